import { recordAudit, type ChangedBy } from '../audit/record-audit.js';
import { now } from '../shared/clock.js';
import { ConflictError, ValidationError } from '../shared/errors.js';
import { asWritten } from '../shared/say.js';
import { newId } from '../shared/ids.js';
import { inTransaction, isDuplicateKey } from '../database/mongo.js';
import { requireRemainingAdmin } from './keep-an-admin.js';
import { OperatorModel, type Operator } from './operator.model.js';
import { hashNewPassword } from './password.js';
import { createNoOperatorError } from './require-operator.js';
import type { OperatorRole } from './rights.js';
import { isUsername, usernameRule } from '../shared/username.js';

/**
 * Lets a person into the console.
 * @throws ValidationError for a name that cannot be one, and for a password that is too short or too long.
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
    await inTransaction(async (session) => {
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
      throw new ConflictError(asWritten(`The operator "${input.username}" exists already.`), {
        cause: error,
      });
    }
    throw error;
  }
  return operator;
}

/** Takes a person out of the console; every session of theirs ends. @throws NotFoundError; ConflictError for the last admin. */
export async function removeOperator(username: string, by: ChangedBy): Promise<void> {
  await inTransaction(async (session) => {
    const operator = await OperatorModel.findOneAndDelete({ username }, { session }).lean<Operator>();
    if (!operator) {
      throw createNoOperatorError(username);
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
