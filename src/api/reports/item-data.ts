import Joi from 'joi';
import {
  depositColumns,
  purchaseColumns,
  saleColumns,
  type Cells,
  type Columns,
} from '../../reports/report-columns.js';
import { timestamp } from '../fields.js';
import { nameSchema } from '../named.js';

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

/** What the type of an item is called. */
const names = new Map<Columns, string>([
  [purchaseColumns, 'ReportedTransaction'],
  [depositColumns, 'ReportedDeposit'],
  [saleColumns, 'Sale'],
]);

/** An item of a report or history, made from the columns that its rows are written by. */
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
