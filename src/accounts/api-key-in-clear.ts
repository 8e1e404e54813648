import { apiKeyContext } from './secret-contexts.js';
import { decrypt } from '../shared/encryption.js';
import { NotFoundError } from '../shared/errors.js';
import { ApiKeyModel } from './api-key.model.js';

/**
 * One API key of an account in clear.
 * @param keyId Null: the current one.
 */
export async function apiKeyInClear(accountId: string, keyId: string | null): Promise<string> {
  const which = keyId === null ? { validUntil: null } : { _id: keyId };
  const key = await ApiKeyModel.findOne({ accountId, ...which }).lean();
  if (!key) {
    throw new NotFoundError('This account has no API key.');
  }
  return decrypt(key.sealed, apiKeyContext(accountId));
}
