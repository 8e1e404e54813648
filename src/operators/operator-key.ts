/**
 * Operator keys for the command line. An operator has at most one, and only the key's hash is
 * stored.
 */
import { createHash, randomBytes } from 'node:crypto';
import { recordAudit, type ChangedBy } from '../audit/record-audit.js';
import { runInTransaction } from '../database/mongo.js';
import { now } from '../shared/clock.js';
import { UnauthorizedError } from '../shared/errors.js';
import { asWritten } from '../shared/say.js';
import { buildUnchangedFilter, createChangedSinceProofError } from './require-operator.js';
import { OperatorModel, type Operator } from './operator.model.js';

/**
 * Creates an operator's key and replaces the previous one.
 * @returns The key in clear text, which is not stored.
 * @throws ConflictError if all sessions were ended since the operator was read.
 */
export async function createOperatorKey(operator: Operator, by: ChangedBy): Promise<string> {
  const key = `op_${randomBytes(32).toString('base64url')}`;
  const keyCreatedAt = now();
  await runInTransaction(async (session) => {
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

/**
 * Finds the operator of a key.
 * @throws UnauthorizedError if no operator has this key.
 */
export async function findOperatorByKey(key: string): Promise<Operator> {
  const isWellFormed = /^op_[\w-]{43}$/.test(key);
  const operator = isWellFormed
    ? await OperatorModel.findOne({ keyHash: { $eq: hashKey(key), $type: 'string' } }).lean<Operator>()
    : null;
  if (!operator) {
    throw new UnauthorizedError(
      asWritten(
        'No operator has this key. Create a new one in the console at /admin/me, or with topup operator key.',
      ),
    );
  }
  return operator;
}

/** True if any operator has a key. From then on, changes by command line require one. */
export async function anyOperatorHasKey(): Promise<boolean> {
  return (await OperatorModel.exists({ keyHash: { $type: 'string' } })) !== null;
}

/** True if an admin has a key. Admins can create keys for others. */
export async function anyAdminHasKey(): Promise<boolean> {
  return (await OperatorModel.exists({ keyHash: { $type: 'string' }, role: 'admin' })) !== null;
}

function hashKey(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}
