import { recordAudit, type ChangedBy } from '../audit/record-audit.js';
import { inTransaction } from '../database/mongo.js';
import { now } from '../shared/clock.js';
import { NotFoundError } from '../shared/errors.js';
import { asWritten } from '../shared/say.js';
import { asProven, provenNoMore } from './as-proven.js';
import { keepAnAdmin } from './keep-an-admin.js';
import { OperatorModel, type Operator } from './operator.model.js';
import { checkedHash } from './password.js';
import type { OperatorRole } from './rights.js';

/**
 * Gives an operator another password; every session of theirs ends.
 * @param whom Their name; or the operator who has proven who they are.
 * @throws ValidationError for a password that is too short or too long.
 * @throws NotFoundError if there is no such operator; ConflictError if all sessions were ended since they were read.
 */
export async function setOperatorPassword(
  whom: string | Operator,
  password: string,
  by: ChangedBy,
): Promise<Operator> {
  const username = nameOf(whom);
  const change = { passwordHash: await checkedHash(password), passwordChangedAt: now() };
  return changeOperator(whom, change, {
    by,
    action: 'operator.password',
    told: () => ({ after: { username, passwordChangedAt: change.passwordChangedAt } }),
  });
}

/**
 * Lets an operator do more, or less; every session of theirs ends, and the key for the command line goes by the new
 * role from its next use.
 * @throws NotFoundError if there is no such operator; ConflictError for the last admin.
 */
export async function setOperatorRole(
  username: string,
  role: OperatorRole,
  by: ChangedBy,
): Promise<Operator> {
  return changeOperator(
    username,
    { role },
    {
      by,
      action: 'operator.role',
      told: (before) => ({ before: { username, role: before.role }, after: { username, role } }),
    },
  );
}

/** Ends every session of an operator. @throws NotFoundError */
export async function endAllSessions(username: string, by: ChangedBy): Promise<Operator> {
  return changeOperator(
    username,
    {},
    { by, action: 'operator.end-sessions', told: () => ({ after: { username } }) },
  );
}

interface Told {
  by: ChangedBy;
  action: string;
  told: (before: Operator) => { before?: object; after: object };
}

/** The change, the end of all sessions and the audit entry, or none of them. @returns the operator as it is afterwards. */
async function changeOperator(
  whom: string | Operator,
  change: Partial<Operator>,
  { by, action, told }: Told,
): Promise<Operator> {
  return inTransaction(async (session) => {
    const before = await OperatorModel.findOneAndUpdate(
      typeof whom === 'string' ? { username: whom } : asProven(whom),
      { $set: change, $inc: { sessionEpoch: 1 } },
      { session, returnDocument: 'before' },
    ).lean<Operator>();
    if (!before) {
      throw typeof whom === 'string' ? nobody(whom) : provenNoMore(whom);
    }
    if (before.role === 'admin' && (change.role ?? 'admin') !== 'admin') {
      await keepAnAdmin(session);
    }
    const subject = { kind: 'operator' as const, id: before._id };
    await recordAudit(session, { ...by, action, subject, ...told(before) });
    return { ...before, ...change, sessionEpoch: (before.sessionEpoch ?? 0) + 1 };
  });
}

function nameOf(whom: string | Operator): string {
  return typeof whom === 'string' ? whom : whom.username;
}

function nobody(username: string): NotFoundError {
  return new NotFoundError(asWritten(`There is no operator ${username}.`), {
    atCommandLine: 'See them all: topup operator list',
  });
}
