import Joi from 'joi';
import { isoDay, text, timestamp } from '../../api/contract/fields.js';
import { requireAccount } from '../../accounts/find-account.js';
import { recordAudit } from '../../audit/record-audit.js';
import { dayNames, parsePeriod } from '../../shared/business-time.js';
import { ValidationError } from '../../shared/errors.js';
import { asWritten } from '../../shared/say.js';
import {
  presentEntry,
  readBalances,
  openStatement,
  readEntries,
  parseCursor,
  formatCursor,
  type StatementPosition,
} from '../../statements/statement.js';
import { defineConsoleOperation, requiredObject, usernameParams } from '../api/console-operation.js';

const entriesMax = 100;

interface Query {
  from?: string;
  to?: string;
  after?: string;
}

/** Records in the audit log who read the statement, as `topup statement` does. */
export const getStatement = defineConsoleOperation<unknown, { username: string }, Query>({
  id: 'getStatement',
  method: 'get',
  path: '/accounts/:username/statement',
  action: 'statement.export',
  summary: 'Movements of a wallet in a period, 100 a page, with the opening and closing balance',
  params: usernameParams,
  query: Joi.object<Query>({
    from: isoDay,
    to: isoDay,
    after: text(200).description(
      '`next` of the previous page. The period of the first page applies; `from` and `to` are ignored.',
    ),
  }),
  data: requiredObject({
    start: timestamp,
    end: timestamp,
    opening_balance: Joi.number(),
    closing_balance: Joi.number(),
    entries: Joi.array().items(
      requiredObject({
        at: timestamp,
        kind: Joi.string(),
        ref_id: Joi.string().allow(null),
        subject_id: Joi.string(),
        amount: Joi.number(),
        balance: Joi.number(),
      }),
    ),
    left: Joi.number().description('Number of movements in the period after these.'),
    next: Joi.string().allow(null).description('Value of `after` for the next page.'),
  }),
  async handle({ params: { username }, query, by }) {
    const { _id } = await requireAccount(username);
    const place = await findPosition(_id, query);
    const statement = { ...place.statement, walletId: _id };
    await recordAudit(null, {
      ...by,
      action: 'statement.export',
      subject: { kind: 'account', id: _id },
      after: { ...statement.period, format: 'page' },
    });
    const [balances, entries] = await Promise.all([
      readBalances(statement),
      readEntries(statement, { after: place.after, limit: entriesMax }),
    ]);
    if (!balances) {
      throw createCursorError();
    }
    const left = statement.lastSeq - place.after - entries.length;
    const last = entries.at(-1);
    return {
      start: statement.period.start.toISOString(),
      end: statement.period.end.toISOString(),
      opening_balance: balances.opening,
      closing_balance: balances.closing,
      entries: entries.map((each) => presentEntry(each)),
      left,
      next: left > 0 && last ? formatCursor({ statement, after: last.seq }) : null,
    };
  },
});

async function findPosition(walletId: string, { from, to, after }: Query): Promise<StatementPosition> {
  if (after !== undefined) {
    const place = parseCursor(after);
    if (!place) {
      throw createCursorError();
    }
    return place;
  }
  const statement = await openStatement(walletId, parsePeriod(from, to, dayNames));
  return { statement, after: statement.firstSeq - 1 };
}

function createCursorError(): ValidationError {
  const message = asWritten('after must be the `next` of a page of this statement');
  return new ValidationError([{ field: 'after', message }]);
}
