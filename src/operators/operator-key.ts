/** Keys that operators show to the command line. Each has one at most; only its hash is stored. */
import { createHash, randomBytes } from 'node:crypto';
import { recordAudit, type ChangedBy } from '../audit/record-audit.js';
import { inTransaction } from '../database/mongo.js';
import { now } from '../shared/clock.js';
import { UnauthorizedError } from '../shared/errors.js';
import { asWritten } from '../shared/say.js';
import { buildUnchangedFilter, createChangedSinceProofError } from './require-operator.js';
import { OperatorModel, type Operator } from './operator.model.js';

/**
 * Gives an operator a key; one before it is worth nothing from now on.
 * @returns it, in clear for this once.
 * @throws ConflictError if all sessions were ended since the operator was read.
 */
export async function createOperatorKey(operator: Operator, by: ChangedBy): Promise<string> {
  const key = `op_${randomBytes(32).toString('base64url')}`;
  const keyCreatedAt = now();
  await inTransaction(async (session) => {
    const { matchedCount } = await OperatorModel.updateOne(
      buildUnchangedFilter(operator),
      { $set: { keyHash: hashKey(key), keyCreatedAt } },
      { session },
    );
    if (matchedCount === 0) {
      throw createChangedSinceProofError(operator);
    }
    await recordAudit(session, {
      ...by,
      action: 'operator.key',
      subject: { kind: 'operator', id: operator._id },
      before: { keyCreatedAt: operator.keyCreatedAt ?? null },
      after: { username: operator.username, keyCreatedAt },
    });
  });
  return key;
}

/** @throws UnauthorizedError for a key that is nobody's. */
export async function findOperatorByKey(key: string): Promise<Operator> {
  const isWellFormed = /^op_[\w-]{43}$/.test(key);
  const operator = isWellFormed
    ? await OperatorModel.findOne({ keyHash: { $eq: hashKey(key), $type: 'string' } }).lean<Operator>()
    : null;
  if (!operator) {
    throw new UnauthorizedError(
      asWritten(
        'The operator key is nobody’s. Make another one in the console, at /admin/me, or by topup operator key.',
      ),
    );
  }
  return operator;
}

/** True once one operator has a key: from then on who changes something has to show one. */
export async function anyOperatorHasKey(): Promise<boolean> {
  return (await OperatorModel.exists({ keyHash: { $type: 'string' } })) !== null;
}

/** True once an admin has a key, who can give others theirs. */
export async function anyAdminHasKey(): Promise<boolean> {
  return (await OperatorModel.exists({ keyHash: { $type: 'string' }, role: 'admin' })) !== null;
}

function hashKey(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}
