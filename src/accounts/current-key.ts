import { ApiKeyModel } from './api-key.model.js';

/** The id of the key that an account uses now; null where it has none. */
export async function findCurrentKeyId(accountId: string): Promise<string | null> {
  const key = await ApiKeyModel.findOne({ accountId, validUntil: null }, { _id: 1 }).lean();
  return key?._id ?? null;
}
