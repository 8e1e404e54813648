import { findConfirmed } from '../database/find-confirmed.js';
import { NotFoundError } from '../shared/errors.js';
import { say } from '../shared/say.js';
import { settlements, type Settlement } from './settlement.model.js';

/**
 * As a majority holds it: "paid already" is an answer about money.
 * @param accountId The seller's; null: not known, and all shards are asked.
 * @throws NotFoundError if there is no settlement with this id.
 */
export async function requireSettlement(
  settlementId: string,
  accountId: string | null = null,
): Promise<Settlement> {
  const owner = accountId === null ? {} : { accountId };
  const [settlement] = await findConfirmed(settlements, { _id: settlementId, ...owner });
  if (!settlement) {
    throw new NotFoundError(say('noSettlement', { id: settlementId }));
  }
  return settlement;
}
