import { recordAudit, type ChangedBy } from '../audit/record-audit.js';
import { inTransaction } from '../database/mongo.js';
import { now } from '../shared/clock.js';
import { buildUnchangedFilter, createChangedSinceProofError } from './as-proven.js';
import { requireRemainingAdmin } from './keep-an-admin.js';
import { OperatorModel, type Operator } from './operator.model.js';
import { hashNewPassword } from './password.js';
import { createNoOperatorError } from './require-operator.js';
import type { OperatorRole } from './rights.js';

/**
 * Gives an operator another password; every session of theirs ends.
 * @param proven The operator who has proven that it is theirs.
 * @throws ValidationError for a password that is too short or too long.
 * @throws NotFoundError if there is no such operator; ConflictError if all sessions were ended since they were read.
 */
export async function setOperatorPassword(
  username: string,
  password: string,
  by: ChangedBy,
  proven?: Operator,
): Promise<Operator> {
  const change = { passwordHash: await hashNewPassword(password), passwordChangedAt: now() };
  return changeOperator(username, change, {
    by,
    proven,
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

interface OperatorUpdate {
  by: ChangedBy;
  proven?: Operator | undefined;
  action: string;
  told: (before: Operator) => { before?: object; after: object };
}

/** The change, the end of all sessions and the audit entry, or none of them. @returns the operator as it is afterwards. */
async function changeOperator(
  username: string,
  change: Partial<Operator>,
  { by, proven, action, told }: OperatorUpdate,
): Promise<Operator> {
  return inTransaction(async (session) => {
    const before = await OperatorModel.findOneAndUpdate(
      proven ? buildUnchangedFilter(proven) : { username },
      { $set: change, $inc: { sessionEpoch: 1 } },
      { session, returnDocument: 'before' },
    ).lean<Operator>();
    if (!before) {
      throw proven ? createChangedSinceProofError(proven) : createNoOperatorError(username);
    }
    if (before.role === 'admin' && (change.role ?? 'admin') !== 'admin') {
      await requireRemainingAdmin(session);
    }
    const subject = { kind: 'operator' as const, id: before._id };
    await recordAudit(session, { ...by, action, subject, ...told(before) });
    return { ...before, ...change, sessionEpoch: before.sessionEpoch + 1 };
  });
}
