import Joi from 'joi';
import {
  depositColumns,
  purchaseColumns,
  saleColumns,
  type Cells,
  type Columns,
  getColumns,
} from '../../reports/report-columns.js';
import { timestamp, nameSchema, toPascalCase } from '../contract/fields.js';
import type { Role } from '../../accounts/account.model.js';
import type { ReportFormat, ReportType } from '../../reports/report.model.js';

const rupiah = Joi.number().integer();

const cells: Record<keyof Cells, Joi.Schema> = {
  text: Joi.string(),
  textOrNull: Joi.string().allow(null),
  rupiah,
  rupiahOrNull: rupiah.allow(null),
  transactionStatus: Joi.string().valid('pending', 'processing', 'success', 'failed'),
  depositStatus: Joi.string().valid('pending', 'completed', 'rejected'),
  time: timestamp,
};

/** OpenAPI type names of items, by their columns. */
const names = new Map<Columns, string>([
  [purchaseColumns, 'ReportedTransaction'],
  [depositColumns, 'ReportedDeposit'],
  [saleColumns, 'Sale'],
]);

/** Returns the schema of a report or history item, built from the columns of its rows. */
export function buildItemSchema(columns: Columns): Joi.ObjectSchema {
  const item = Joi.object(
    Object.fromEntries(
      Object.entries(columns).map(([name, { kind, description }]) => {
        const cell = cells[kind].required();
        return [name, description === undefined ? cell : cell.description(description)];
      }),
    ),
  );
  const name = names.get(columns);
  return name === undefined ? item : nameSchema(name, item);
}

export const reportTypes: Record<Role, ReportType[]> = {
  buyer: ['transaction', 'purchase', 'deposit'],
  seller: ['transaction', 'sales', 'product'],
};
export const reportFormats = ['json', 'csv', 'csv-excel', 'xlsx'] as const satisfies ReportFormat[];
/** Formats whose response is only a link, so that they share a schema. */
const linkedFormats = reportFormats.filter((format) => format !== 'json');
/** Maximum number of items in a response. The file has all items. */
export const itemsInlineMax = 10_000;

const whole = Joi.number().integer().required();
const day = Joi.string()
  .pattern(/^\d{4}-\d{2}-\d{2}$/)
  .required()
  .example('2024-03-01');

const transactionTotals = {
  total_transactions: whole,
  success_transactions: whole,
  failed_transactions: whole,
  total_amount: whole,
  success_amount: whole,
};
const totals = Joi.array()
  .items(Joi.object({ key: Joi.string().required(), count: whole, amount: whole }))
  .required()
  .description('Totals of successful transactions.');

const summaries: Record<ReportType, Joi.PartialSchemaMap> = {
  transaction: transactionTotals,
  purchase: { ...transactionTotals, by_category: totals, by_product: totals },
  deposit: { ...transactionTotals, average_amount: whole },
  sales: {
    total_transactions: whole,
    success_transactions: whole,
    failed_transactions: whole,
    total_revenue: whole,
    success_revenue: whole,
    commission_rate: Joi.number().min(0).max(1).required().description('A fraction, such as 0.02.'),
    commission_amount: whole,
    net_revenue: whole,
  },
  product: {
    total_products: whole,
    active: whole,
    inactive: whole,
    maintenance: whole,
    units_sold: whole,
    total_revenue: whole,
  },
};

const products = Joi.array()
  .items(
    Joi.object({
      code: Joi.string().required(),
      name: Joi.string().required(),
      price: whole,
      status: Joi.string().valid('active', 'inactive', 'maintenance').required(),
      units_sold: whole,
      revenue: whole,
    }),
  )
  .required();

function buildReportHead(types: ReportType[], formatsPossible: ReportFormat[]) {
  return {
    report_id: Joi.string().required(),
    type: Joi.string()
      .valid(...types)
      .required(),
    format: Joi.string()
      .valid(...formatsPossible)
      .required(),
    period: Joi.object({ start_date: day, end_date: day }).required(),
  };
}

/** Returns the schema of a ready report, of any type and format that this role can request. */
export function buildReportSchema(role: Role): Joi.Schema {
  const each = reportTypes[role].flatMap((type) => [
    buildReadyReportSchema(role, type, ['json']),
    buildReadyReportSchema(role, type, linkedFormats),
  ]);
  return Joi.alternatives(...each).match('one');
}

function buildReadyReportSchema(role: Role, type: ReportType, formats: ReportFormat[]): Joi.Schema {
  const isJson = formats.includes('json');
  // `Csv` covers every linked format. The type got its name when there was only one.
  const title = `${toPascalCase(role)}${toPascalCase(type)}Report${isJson ? 'Json' : 'Csv'}`;
  return nameSchema(
    title,
    Joi.object({
      ...buildReportHead([type], formats),
      summary: Joi.object(summaries[type]).required(),
      ...(type === 'product' && { products }),
      filename: Joi.string().required(),
      rows: whole.description('Rows in the file.'),
      size: whole.description('Size of the file in bytes.'),
      download_url: Joi.string().uri().required().description('Needs no key until expires_at.'),
      expires_at: timestamp.required(),
      ...(isJson && {
        transactions: Joi.array()
          .items(buildItemSchema(getColumns({ role, type })))
          .max(itemsInlineMax)
          .required(),
        truncated: Joi.boolean().required().description('True if the file has more rows.'),
      }),
    }),
  );
}

/** Returns the schema of a report that is not ready yet. */
export function buildUnfinishedReportSchema(role: Role): Joi.Schema {
  return nameSchema(
    `Unfinished${toPascalCase(role)}Report`,
    Joi.object({
      ...buildReportHead(reportTypes[role], [...reportFormats]),
      status: Joi.string().valid('pending', 'processing').required(),
    }),
  );
}

/**
 * Returns the schema of the file of a JSON report. Other formats have the same fields as columns.
 */
export function buildReportFileSchema(role: Role): Joi.Schema {
  return Joi.array().items(
    role === 'buyer'
      ? Joi.alternatives(buildItemSchema(purchaseColumns), buildItemSchema(depositColumns)).match('one')
      : buildItemSchema(saleColumns),
  );
}
