import { getQuickCollection } from '../database/mongo.js';
import { createCache } from '../redis/cache.js';
import { AccountModel, type Account } from './account.model.js';
import { NotFoundError } from '../shared/errors.js';
import { asWritten } from '../shared/say.js';
import { formatBusinessDay } from '../shared/business-time.js';

/** Finds an account in this process's cache. Null if it does not exist. */
export const findAccount = createCache({
  from: [AccountModel],
  load: (id: string) => getQuickCollection(AccountModel).findOne({ _id: id }),
  isAbout: ({ _id }, accountId) => _id === accountId,
});

/**
 * Returns an account that must exist, from the cache. Use it for webhooks and routing, never for
 * access checks.
 * @throws Error if the account does not exist.
 */
export async function getExistingAccount(id: string): Promise<Account> {
  const account = await findAccount(id);
  if (!account) {
    throw new Error(`Account ${id} does not exist`);
  }
  return account;
}

/**
 * Finds an account by username or id for operator commands, without the cache.
 * @throws NotFoundError if there is no such account.
 */
export async function requireAccount(usernameOrId: string): Promise<Account> {
  const account =
    (await AccountModel.findOne({ username: usernameOrId }).lean<Account>()) ??
    (await AccountModel.findById(usernameOrId).lean<Account>());
  if (!account) {
    throw new NotFoundError(asWritten(`There is no account ${usernameOrId}.`), {
      atCommandLine: 'See them all: topup account list',
    });
  }
  return account;
}

/** Returns the usernames of accounts by id, in one query. Unknown ids are missing. */
export async function findUsernames(ids: readonly string[]): Promise<Record<string, string>> {
  const found = await AccountModel.find({ _id: { $in: [...new Set(ids)] } }, { username: 1 }).lean();
  return Object.fromEntries(found.map((each) => [each._id, each.username]));
}

/**
 * Returns the business day (YYYY-MM-DD) on which the installation's first account was created. Null
 * if there is no account.
 */
export async function findFirstAccountDay(): Promise<string | null> {
  const first = await AccountModel.findOne({}, { createdAt: 1 }).sort({ _id: 1 }).lean<{ createdAt: Date }>();
  return first && formatBusinessDay(first.createdAt);
}
