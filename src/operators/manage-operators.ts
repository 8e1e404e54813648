import { type Session, runInTransaction, isDuplicateKey } from '../database/mongo.js';
import { now } from '../shared/clock.js';
import { ConflictError, ValidationError } from '../shared/errors.js';
import { asWritten } from '../shared/say.js';
import { OperatorModel, type Operator } from './operator.model.js';
import { recordAudit, type ChangedBy } from '../audit/record-audit.js';
import { newId } from '../shared/ids.js';
import { hashNewPassword } from './password.js';
import {
  buildOperatorNotFoundError,
  buildUnchangedFilter,
  createChangedSinceProofError,
} from './require-operator.js';
import type { OperatorRole } from './rights.js';
import { isUsername, usernameRule } from '../shared/input-rules.js';

/**
 * Checks that an admin remains. Call it inside the transaction that removes an admin, after the
 * change. The check writes to a remaining admin, so that the transactions conflict if two admins
 * remove each other at the same time.
 * @throws ConflictError if no admin would remain.
 */
export async function requireRemainingAdmin(session: Session): Promise<void> {
  const { matchedCount } = await OperatorModel.updateOne(
    { role: 'admin' },
    { $set: { keptAsAdminAt: now() } },
    { session },
  );
  if (matchedCount === 0) {
    throw new ConflictError(asWritten('This is the last admin. Make another operator an admin first.'));
  }
}

/**
 * Creates an operator.
 * @throws ValidationError for an invalid name, and for a password that is too short or too long.
 * @throws ConflictError if the username is taken.
 */
export async function createOperator(
  input: { username: string; role: OperatorRole; password: string },
  by: ChangedBy,
): Promise<Operator> {
  if (!isUsername(input.username)) {
    throw new ValidationError([{ field: 'username', message: asWritten(usernameRule) }]);
  }
  const at = now();
  const operator: Operator = {
    _id: newId(),
    username: input.username,
    role: input.role,
    passwordHash: await hashNewPassword(input.password),
    passwordChangedAt: at,
    sessionEpoch: 0,
    createdAt: at,
  };
  try {
    await runInTransaction(async (session) => {
      await OperatorModel.create([operator], { session });
      await recordAudit(session, {
        ...by,
        action: 'operator.create',
        subject: { kind: 'operator', id: operator._id },
        after: { username: operator.username, role: operator.role },
      });
    });
  } catch (error) {
    if (isDuplicateKey(error)) {
      throw new ConflictError(asWritten(`The operator "${input.username}" already exists.`), {
        cause: error,
      });
    }
    throw error;
  }
  return operator;
}

/**
 * Removes an operator and ends all their sessions.
 * @throws NotFoundError if there is no such operator.
 * @throws ConflictError for the last admin.
 */
export async function removeOperator(username: string, by: ChangedBy): Promise<void> {
  await runInTransaction(async (session) => {
    const operator = await OperatorModel.findOneAndDelete({ username }, { session }).lean<Operator>();
    if (!operator) {
      throw buildOperatorNotFoundError(username);
    }
    if (operator.role === 'admin') {
      await requireRemainingAdmin(session);
    }
    await recordAudit(session, {
      ...by,
      action: 'operator.remove',
      subject: { kind: 'operator', id: operator._id },
      before: { username, role: operator.role },
    });
  });
}

export async function listOperators(): Promise<Operator[]> {
  return OperatorModel.find().sort({ username: 1 }).lean<Operator[]>();
}

/**
 * Sets an operator's password and ends all their sessions.
 * @param proven The re-authenticated operator, if operators change their own password.
 * @throws ValidationError for a password that is too short or too long.
 * @throws NotFoundError if there is no such operator.
 * @throws ConflictError if all sessions of `proven` were ended since the operator was read.
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
    buildAuditFields: () => ({ after: { username, passwordChangedAt: change.passwordChangedAt } }),
  });
}

/**
 * Sets an operator's role and ends all their sessions. The operator's command-line key has the new
 * role from its next use.
 * @throws NotFoundError if there is no such operator.
 * @throws ConflictError for the last admin.
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
      buildAuditFields: (before) => ({ before: { username, role: before.role }, after: { username, role } }),
    },
  );
}

/**
 * Ends every session of an operator.
 * @throws NotFoundError if there is no such operator.
 */
export async function endAllSessions(username: string, by: ChangedBy): Promise<Operator> {
  return changeOperator(
    username,
    {},
    { by, action: 'operator.end-sessions', buildAuditFields: () => ({ after: { username } }) },
  );
}

interface OperatorUpdate {
  by: ChangedBy;
  proven?: Operator | undefined;
  action: string;
  buildAuditFields: (before: Operator) => { before?: object; after: object };
}

/**
 * Applies the change, ends all sessions and records the audit entry in one transaction.
 * @returns The operator after the change.
 */
async function changeOperator(
  username: string,
  change: Partial<Operator>,
  { by, proven, action, buildAuditFields }: OperatorUpdate,
): Promise<Operator> {
  return runInTransaction(async (session) => {
    const before = await OperatorModel.findOneAndUpdate(
      proven ? buildUnchangedFilter(proven) : { username },
      { $set: change, $inc: { sessionEpoch: 1 } },
      { session, returnDocument: 'before' },
    ).lean<Operator>();
    if (!before) {
      throw proven ? createChangedSinceProofError(proven) : buildOperatorNotFoundError(username);
    }
    if (before.role === 'admin' && (change.role ?? 'admin') !== 'admin') {
      await requireRemainingAdmin(session);
    }
    const subject = { kind: 'operator' as const, id: before._id };
    await recordAudit(session, { ...by, action, subject, ...buildAuditFields(before) });
    return { ...before, ...change, sessionEpoch: before.sessionEpoch + 1 };
  });
}
