/**
 * An md5 sign covers the ref_id, but neither the product nor the customer. An attacker who reads
 * the URL of a refused call could reuse its sign for another purchase. So a ref_id is bound to its
 * first request (decision 025). A purchase binds its ref_id forever, a refused request for a day.
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
import { defineScheduledJob } from '../../jobs/sweep-job.js';

/** `productCode` and `customerNumber` are normalised. */
export type SignedRequest = Pick<Purchase, 'accountId' | 'refId' | 'productCode' | 'customerNumber'>;

/**
 * Binds a ref_id to the refused request, unless the ref_id is already bound. Await this before the
 * refusal is sent, so that the sign cannot be reused once the refusal is known.
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
    // The ref_id has an unexpired binding. The first binding wins, if a majority holds it.
    if (!isDuplicateKey(error)) {
      throw error;
    }
    await requireConfirmedBinding(signed);
  }
}

/**
 * Returns the reason why this sign must not buy anything, or null. A request whose ref_id has a
 * purchase passes here; it returns that purchase.
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
  // This call writes no binding, so the stored binding must be durable before it refuses the sign.
  return isOther((await requireConfirmedBinding(signed)).wantedSha256)
    ? new ConflictError(say('refIdBound', { ref: refId }), { reason: 'ref_id_conflict' })
    : null;
}

/** Reads from the primary, so that no recent binding is missed. Concurrent calls share a query. */
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
 * Reads the binding with majority read concern.
 * @throws DependencyError if the binding was rolled back, because the state is then unknown.
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

export const removeExpiredBindingsJob = defineScheduledJob('remove-expired-bindings', 300_000);

export async function removeExpiredBindings(): Promise<void> {
  await SignBindingModel.deleteMany({ expiresAt: { $lte: now() } });
}
