import { ttlCache } from '../shared/ttl-cache.js';
import { AccountModel, type Account } from './account.model.js';

const byId = ttlCache((id: string) => AccountModel.findById(id).lean<Account>());

/** An account that must exist; up to a second old. For webhooks, routing and the like, never for access. */
export async function accountById(id: string): Promise<Account> {
  const account = await byId.get(id);
  if (!account) {
    throw new Error(`Account ${id} does not exist`);
  }
  return account;
}

export function forgetAccount(id: string): void {
  byId.drop(id);
}
