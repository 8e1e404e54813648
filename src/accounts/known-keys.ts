/** API keys with their accounts, from each process's own memory for at most `limits.cacheTtlMs`. */
import { now } from '../shared/clock.js';
import { ttlCache } from '../shared/ttl-cache.js';
import { AccountModel, type Account } from './account.model.js';
import { ApiKeyModel, type ApiKey } from './api-key.model.js';

export interface KeyAndAccount {
  key: Pick<ApiKey, '_id' | 'validUntil'>;
  account: Account;
}

export interface AccountAndKeys {
  account: Account;
  /** The current one, and those before it whose overlap was not over when they were loaded. */
  keys: ApiKey[];
}

const byHash = ttlCache((sha256: string) => load({ sha256 }));
const byId = ttlCache((_id: string) => load({ _id }));
const byUsername = ttlCache(loadByUsername);

export function keyByHash(sha256: string): Promise<KeyAndAccount | null> {
  return byHash.get(sha256);
}

export function keyById(id: string): Promise<KeyAndAccount | null> {
  return byId.get(id);
}

export function keysOfUsername(username: string): Promise<AccountAndKeys | null> {
  return byUsername.get(username);
}

/** Makes a change of key or account visible in this process at once; the others see it within a second. */
export function forgetAuthentication(): void {
  byHash.clear();
  byId.clear();
  byUsername.clear();
}

async function load(filter: { sha256: string } | { _id: string }): Promise<KeyAndAccount | null> {
  const key = await ApiKeyModel.findOne(filter).lean<ApiKey>();
  const account = key && (await AccountModel.findById(key.accountId).lean<Account>());
  return account && { key: { _id: key._id, validUntil: key.validUntil ?? null }, account };
}

async function loadByUsername(username: string): Promise<AccountAndKeys | null> {
  const account = await AccountModel.findOne({ username }).lean<Account>();
  if (!account) {
    return null;
  }
  const live = [{ validUntil: null }, { validUntil: { $gt: now() } }];
  return { account, keys: await ApiKeyModel.find({ accountId: account._id, $or: live }).lean<ApiKey[]>() };
}
