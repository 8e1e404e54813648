import { Readable } from 'node:stream';
import Joi from 'joi';
import { nameSchema, isoDay, timestamp, tz, wholeNumber } from '../contract/fields.js';
import { limits } from '../../../config/limits.js';
import type { Role } from '../../accounts/account.model.js';
import { formatBusinessDay, parsePeriod, formatIsoTime } from '../../shared/business-time.js';
import type { CsvFormat } from '../../shared/csv-text.js';
import { ValidationError } from '../../shared/errors.js';
import { say } from '../../shared/say.js';
import {
  presentEntry,
  readBalances,
  openStatement,
  readEntries,
  type Statement,
  type StatementEntry,
  parseCursor,
  formatCursor,
  type StatementPosition,
  streamStatementCsv,
} from '../../statements/statement.js';
import {
  buildRoleFields,
  defineOperation,
  type AnyOperation,
  type FileReply,
} from '../contract/operation.js';
import { label, toJoiMessages } from '../language/joi-messages.js';

interface Query {
  start_date?: string;
  end_date?: string;
  limit: number;
  cursor?: string;
  format?: CsvFormat;
  tz?: string;
}

const rupiah = Joi.number().integer().required();

/** Returns the statement operations of one role (docs/reference/api/statements.md). */
export function buildStatementOperations(role: Role): AnyOperation[] {
  return [
    defineOperation<unknown, unknown, Query>({
      ...buildRoleFields(role, { name: (who) => `get${who}Statement`, path: '/statement' }),
      method: 'get',
      needs: 'trade',
      summary: 'Every movement of the wallet, oldest first, with opening and closing balance',
      description:
        'Dates as in the history. opening_balance + the amounts of all entries = closing_balance, over all pages. ' +
        'With `Accept: text/csv` or a `format` the response is the whole statement as a file.',
      query: Joi.object<Query>({
        start_date: isoDay,
        end_date: isoDay,
        limit: wholeNumber({ max: limits.pageSizeMax, standard: limits.pageSizeMax }),
        cursor: buildCursorSchema(),
        format: Joi.string()
          .valid('csv', 'csv-excel')
          .description(
            'Return the whole statement as a file: `csv` as with `Accept: text/csv`, `csv-excel` with texts that Excel shows unchanged.',
          ),
        tz,
      }),
      data: nameSchema(
        'Statement',
        Joi.object({
          period: Joi.object({ start_date: timestamp.required(), end_date: timestamp.required() }).required(),
          currency: Joi.string().valid('IDR').required(),
          opening_balance: rupiah,
          closing_balance: rupiah,
          entries: Joi.array().items(entryData).required(),
          next_cursor: Joi.string().allow(null).required().description('Null after the last entry.'),
        }),
      ),
      file: 'onRequest',
      conditional: true,
      async handle({ account, query, prefers }) {
        const place = await findPosition(account._id, query);
        const statement = { ...place.statement, walletId: account._id };
        const balances = await readBalances(statement);
        if (!balances) {
          throw new ValidationError([{ field: 'cursor', message: say('cursorOfOtherStatement') }]);
        }
        if (query.format !== undefined || prefers('text/csv')) {
          return {
            data: null,
            file: buildCsvFile(statement, { after: place.after, format: query.format, zone: query.tz }),
          };
        }
        const entries = await readEntries(statement, { after: place.after, limit: query.limit });
        return { data: presentStatement(statement, balances, { entries, zone: query.tz }) };
      },
    }),
  ];
}

const emptyStatement = { period: { start: new Date(0), end: new Date(0) }, firstSeq: 1, lastSeq: 0 };

const entryData = nameSchema(
  'StatementEntry',
  Joi.object({
    at: timestamp.required(),
    kind: Joi.string()
      .required()
      .description(
        'deposit, purchase, refund, reversal, seller-posting, settlement-request, settlement-completed or settlement-failed. New kinds may be added.',
      ),
    ref_id: Joi.string().allow(null).required(),
    subject_id: Joi.string().required().description('Id of the transaction, deposit, settlement or posting.'),
    amount: rupiah.description('Signed; 0 if only held money moved.'),
    balance: rupiah.description('Balance after the entry.'),
  }),
);

const buildCursorSchema = () =>
  Joi.string()
    .max(200)
    .custom((value: string, helpers) => (parseCursor(value) ? value : helpers.error('string.pattern.base')))
    .messages(toJoiMessages({ 'string.pattern.base': say('cursorOfCall', label) }))
    .example(formatCursor({ statement: emptyStatement, after: 0 }))
    .description('next_cursor of the previous page. The period of the first page applies, not the dates.');

async function findPosition(
  walletId: string,
  { cursor: text, start_date, end_date }: Query,
): Promise<StatementPosition> {
  const known = text === undefined ? null : parseCursor(text);
  if (known) {
    return known;
  }
  const statement = await openStatement(walletId, parsePeriod(start_date, end_date));
  return { statement, after: statement.firstSeq - 1 };
}

function presentStatement(
  statement: Statement,
  { opening, closing }: { opening: number; closing: number },
  { entries, zone }: { entries: StatementEntry[]; zone: string | undefined },
) {
  const last = entries.at(-1);
  const { start, end } = statement.period;
  return {
    period: { start_date: formatIsoTime(start, zone), end_date: formatIsoTime(end, zone) },
    currency: 'IDR',
    opening_balance: opening,
    closing_balance: closing,
    entries: entries.map((each) => presentEntry(each, zone)),
    next_cursor: last && last.seq < statement.lastSeq ? formatCursor({ statement, after: last.seq }) : null,
  };
}

function buildCsvFile(statement: Statement, what: Parameters<typeof streamStatementCsv>[1]): FileReply {
  const { start, end } = statement.period;
  return {
    filename: `statement-${formatBusinessDay(start)}-${formatBusinessDay(end)}.csv`,
    type: 'text/csv; charset=utf-8; header=present',
    size: null,
    // Object mode would read more rows ahead than a slow client takes.
    open: () => Readable.from(streamStatementCsv(statement, what), { objectMode: false }),
  };
}
