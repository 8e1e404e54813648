/**
 * md5 signs a ref_id and neither product nor customer: whoever reads the URL of a refused call could buy something
 * else with its sign. So the first thing that is wanted under a ref_id is the only one (decision 025): an accepted
 * purchase stands for it for ever, a refused call by a binding for a day.
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

/** Product code and customer number normalised. */
export type SignedRequest = Pick<Purchase, 'accountId' | 'refId' | 'productCode' | 'customerNumber'>;

/**
 * Binds a ref_id to what was refused under it, unless it is bound already. To be awaited before the refusal is
 * answered: nobody has heard of the sign's refusal while it could still be used for something else.
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
    // One that is not over has the id: the first one stays, if a failover cannot take it back.
    if (!isDuplicateKey(error)) {
      throw error;
    }
    await requireConfirmedBinding(signed);
  }
}

/** Why this sign buys nothing, or null. What exists under its ref_id is to be answered all the same. */
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
  // Nothing binds this call itself, so the binding that refuses it must last.
  return isOther((await requireConfirmedBinding(signed)).wantedSha256)
    ? new ConflictError(say('refIdBound', { ref: refId }), { reason: 'ref_id_conflict' })
    : null;
}

/** As the primary has it, so that none is missed. Those that ask at the same time share a query, as in findByRef. */
const findBoundFingerprint = batchCalls<SignedRequest, string | null>({
  itemsMax: 100,
  async run(all) {
    const filter = { _id: { $in: all.map(getBindingId) }, expiresAt: { $gt: now() } };
    const found = await getQuickCollection(signBindings).find(filter).toArray();
    const byId = new Map(found.map((each) => [each._id, each.wantedSha256]));
    return all.map((each) => byId.get(getBindingId(each)) ?? null);
  },
});

/** The binding that was seen, as a majority holds it. @throws DependencyError if it is lost: then nothing is known. */
async function requireConfirmedBinding(signed: SignedRequest): Promise<SignBinding> {
  const [held] = await findConfirmed(signBindings, { _id: getBindingId(signed) });
  if (!held) {
    throw new DependencyError(new Error('A binding was seen that no majority holds'));
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

/** Removes bindings of signs whose day is over. */
export const removeExpiredBindingsJob = defineClocked('remove-expired-bindings', 300_000);

/** Removes bindings of signs whose day is over. */
export async function removeExpiredBindings(): Promise<void> {
  await SignBindingModel.deleteMany({ expiresAt: { $lte: now() } });
}
