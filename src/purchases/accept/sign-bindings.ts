/**
 * An md5 sign covers the ref_id, but neither the product nor the customer. An attacker who reads
 * the URL of a refused call could reuse its sign for another purchase. So a ref_id is bound to its
 * first request (decision 025). A purchase binds it forever, a refusal for a day.
 */
import { createHash } from 'node:crypto';
import type { SignKind } from '../../accounts/authenticate-sign.js';
import { limits } from '../../../config/limits.js';
import { findConfirmed } from '../../database/find-confirmed.js';
import { isDuplicateKey, getQuickCollection } from '../../database/mongo.js';
import { now, nowMs } from '../../shared/clock.js';
import { ConflictError, DependencyError, ValidationError, type AppError } from '../../shared/errors.js';
import { say } from '../../shared/say.js';
import { batchCalls } from '../../shared/concurrency.js';
import type { Purchase } from '../purchase.model.js';
import { signBindings, type SignBinding, SignBindingModel } from './sign-binding.model.js';
import { defineClocked } from '../../jobs/sweep-job.js';

/** `productCode` and `customerNumber` are normalised. */
export type SignedRequest = Pick<Purchase, 'accountId' | 'refId' | 'productCode' | 'customerNumber'>;

/**
 * Binds a ref_id to the refused request, unless it is bound already. Await this before answering
 * the refusal, so that the sign cannot be reused once the refusal is known.
 */
export async function bindSign(signed: SignedRequest): Promise<void> {
  const set = {
    wantedSha256: getRequestFingerprint(signed),
    expiresAt: new Date(nowMs() + limits.signBindingMs),
  };
  const filter = { _id: getBindingId(signed), expiresAt: { $lte: now() } };
  try {
    await getQuickCollection(signBindings).updateOne(filter, { $set: set }, { upsert: true });
  } catch (error) {
    // A binding that has not expired holds the id. The first binding stays, if a majority has it.
    if (!isDuplicateKey(error)) {
      throw error;
    }
    await requireConfirmedBinding(signed);
  }
}

/**
 * Returns the reason why this sign must not buy anything, or null. An existing purchase under its
 * ref_id is answered all the same.
 */
export async function findSignRefusal(
  kind: SignKind | undefined,
  signed: SignedRequest,
): Promise<AppError | null> {
  const { refId } = signed;
  if (kind !== undefined && /^(depo|pricelist)$/i.test(refId)) {
    const message = say('refIdOfOtherCall', { ref: refId });
    return new ValidationError([{ field: 'ref_id', message }]);
  }
  const isOther = (bound: string | null) => bound !== null && bound !== getRequestFingerprint(signed);
  if (kind !== 'md5' || !isOther(await findBoundFingerprint(signed))) {
    return null;
  }
  // This call writes no binding, so the binding that refuses it must be durable.
  return isOther((await requireConfirmedBinding(signed)).wantedSha256)
    ? new ConflictError(say('refIdBound', { ref: refId }), { reason: 'ref_id_conflict' })
    : null;
}

/** Reads from the primary, so no binding is missed. Concurrent calls share a query. */
const findBoundFingerprint = batchCalls<SignedRequest, string | null>({
  itemsMax: 100,
  async run(all) {
    const filter = { _id: { $in: all.map(getBindingId) }, expiresAt: { $gt: now() } };
    const found = await getQuickCollection(signBindings).find(filter).toArray();
    const byId = new Map(found.map((each) => [each._id, each.wantedSha256]));
    return all.map((each) => byId.get(getBindingId(each)) ?? null);
  },
});

/**
 * Returns the binding as a majority holds it.
 * @throws DependencyError if it was rolled back, because the state is then unknown.
 */
async function requireConfirmedBinding(signed: SignedRequest): Promise<SignBinding> {
  const [held] = await findConfirmed(signBindings, { _id: getBindingId(signed) });
  if (!held) {
    throw new DependencyError(new Error('A binding was read that is not majority-committed'));
  }
  return held;
}

function getBindingId({ accountId, refId }: SignedRequest): string {
  return `${accountId}:${refId}`;
}

function getRequestFingerprint({ productCode, customerNumber }: SignedRequest): string {
  return createHash('sha256')
    .update(JSON.stringify([productCode, customerNumber]))
    .digest('base64');
}

export const removeExpiredBindingsJob = defineClocked('remove-expired-bindings', 300_000);

export async function removeExpiredBindings(): Promise<void> {
  await SignBindingModel.deleteMany({ expiresAt: { $lte: now() } });
}
