import { getQuickCollection } from '../database/mongo.js';
import { createCache } from '../redis/cached.js';
import { AccountModel, type Account } from './account.model.js';

/** From this process's memory; null if there is none. */
export const findAccount = createCache({
  from: [AccountModel],
  load: (id: string) => getQuickCollection(AccountModel).findOne({ _id: id }),
  isAbout: ({ _id }, accountId) => _id === accountId,
});

/** An account that must exist, from this process's memory. For webhooks, routing and the like, never for access. */
export async function getExistingAccount(id: string): Promise<Account> {
  const account = await findAccount(id);
  if (!account) {
    throw new Error(`Account ${id} does not exist`);
  }
  return account;
}
