import { apiKeyContext } from './secret-contexts.js';
import { decrypt } from '../shared/encryption.js';
import { NotFoundError } from '../shared/errors.js';
import { say } from '../shared/say.js';
import { ApiKeyModel } from './api-key.model.js';

/**
 * One API key of an account in clear.
 * @param keyId Null: the current one.
 */
export async function getDecryptedApiKey(accountId: string, keyId: string | null): Promise<string> {
  const which = keyId === null ? { validUntil: null } : { _id: keyId };
  const key = await ApiKeyModel.findOne({ accountId, ...which }).lean();
  if (!key) {
    throw new NotFoundError(say('noApiKey'));
  }
  return decrypt(key.sealed, apiKeyContext(accountId));
}
