import { NotFoundError } from '../shared/errors.js';
import { say } from '../shared/say.js';
import { SettlementModel, type Settlement } from './settlement.model.js';

/**
 * @param accountId The seller's; null: not known, and all shards are asked.
 * @throws NotFoundError if there is no settlement with this id.
 */
export async function requireSettlement(
  settlementId: string,
  accountId: string | null = null,
): Promise<Settlement> {
  const settlement = await SettlementModel.findOne({
    _id: settlementId,
    ...(accountId !== null && { accountId }),
  }).lean<Settlement>();
  if (!settlement) {
    throw new NotFoundError(say('noSettlement', { id: settlementId }));
  }
  return settlement;
}
