import { now } from '../shared/clock.js';
import { ForbiddenError, UnauthorizedError } from '../shared/errors.js';
import { ttlCache } from '../shared/ttl-cache.js';
import { AccountModel, type Account, type Role } from './account.model.js';
import { ApiKeyModel } from './api-key.model.js';
import { apiKeyHash, isWellFormedApiKey } from './api-key.js';

interface KeyAndAccount {
  account: Account;
  validUntil: Date | null;
}

const byKeyHash = ttlCache(loadByKeyHash);

/**
 * The account that an API key belongs to (interface part 5).
 * @throws UnauthorizedError (401/07) for a key that is missing, unknown or revoked.
 * @throws ForbiddenError (403/07) for a suspended account.
 */
export async function authenticateKey(apiKey: string): Promise<Account> {
  if (!isWellFormedApiKey(apiKey)) {
    throw new UnauthorizedError('The API key is not valid. Copy it again from your API settings.');
  }
  const found = await byKeyHash.get(apiKeyHash(apiKey));
  if (!found || (found.validUntil !== null && found.validUntil <= now())) {
    throw new UnauthorizedError('The API key is unknown or has been revoked.');
  }
  if (found.account.status === 'suspended') {
    throw new ForbiddenError('This account is suspended. Contact the operator.');
  }
  return found.account;
}

/** @throws ForbiddenError (403/07) where a key of one role is used on the other's surface. */
export function requireRole(account: Account, role: Role): void {
  if (account.role !== role) {
    throw new ForbiddenError(`This is the ${role} surface; the key belongs to a ${account.role}.`);
  }
}

/** Makes a change of key or account visible in this process at once; the others see it within a second. */
export function forgetAuthentication(): void {
  byKeyHash.clear();
}

async function loadByKeyHash(sha256: string): Promise<KeyAndAccount | null> {
  const key = await ApiKeyModel.findOne({ sha256 }).lean();
  if (!key) {
    return null;
  }
  const account = await AccountModel.findById(key.accountId).lean<Account>();
  return account ? { account, validUntil: key.validUntil ?? null } : null;
}
