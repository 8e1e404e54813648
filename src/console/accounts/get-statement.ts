import Joi from 'joi';
import { isoDay, timestamp } from '../../api/fields.js';
import { requireAccount } from '../../accounts/require-account.js';
import { recordAudit } from '../../audit/record-audit.js';
import { periodOf } from '../../shared/business-time.js';
import { presentEntry } from '../../statements/present-entry.js';
import { balancesOf, openStatement, readEntries } from '../../statements/read-statement.js';
import { defineConsoleOperation, shape, usernameParams } from '../api/console-operation.js';

const entriesMax = 100;

interface Query {
  from?: string;
  to?: string;
}

/** Who reads it is in the audit log, as with `topup statement`. */
export const getStatement = defineConsoleOperation<unknown, { username: string }, Query>({
  id: 'getStatement',
  method: 'get',
  path: '/accounts/:username/statement',
  action: 'statement.export',
  summary: 'The first 100 movements of a period of a wallet, and its opening and closing balance',
  params: usernameParams,
  query: Joi.object<Query>({ from: isoDay, to: isoDay }),
  data: shape({
    start: timestamp,
    end: timestamp,
    opening_balance: Joi.number(),
    closing_balance: Joi.number(),
    entries: Joi.array().items(
      shape({
        at: timestamp,
        kind: Joi.string(),
        ref_id: Joi.string().allow(null),
        subject_id: Joi.string(),
        amount: Joi.number(),
        balance: Joi.number(),
      }),
    ),
    left: Joi.number().description('Movements of the period after these.'),
  }),
  async handle({ params: { username }, query: { from, to }, by }) {
    const { _id } = await requireAccount(username);
    const period = periodOf(from, to);
    const subject = { kind: 'account' as const, id: _id };
    await recordAudit(null, {
      ...by,
      action: 'statement.export',
      subject,
      after: { ...period, format: 'page' },
    });
    const statement = await openStatement(_id, period);
    const after = statement.firstSeq - 1;
    const [balances, entries] = await Promise.all([
      balancesOf(statement),
      readEntries(statement, { after, limit: entriesMax }),
    ]);
    return {
      start: period.start.toISOString(),
      end: period.end.toISOString(),
      opening_balance: balances?.opening ?? 0,
      closing_balance: balances?.closing ?? 0,
      entries: entries.map((each) => presentEntry(each)),
      left: statement.lastSeq - after - entries.length,
    };
  },
});
