import { getQuickCollection } from '../database/mongo.js';
import { createCache } from '../redis/cache.js';
import { AccountModel, type Account } from './account.model.js';
import { NotFoundError } from '../shared/errors.js';
import { asWritten } from '../shared/say.js';
import { businessDay } from '../shared/business-time.js';

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

/**
 * An account by its username or its id, as it is now: for the operator's commands.
 * @throws NotFoundError if there is none.
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

/** The usernames of accounts by their ids, in one query. Ids that no account has are missing. */
export async function findUsernames(ids: readonly string[]): Promise<Record<string, string>> {
  const found = await AccountModel.find({ _id: { $in: [...new Set(ids)] } }, { username: 1 }).lean();
  return Object.fromEntries(found.map((each) => [each._id, each.username]));
}

/** The business day (YYYY-MM-DD) on which this copy of the service got its first account; null: it has none yet. */
export async function findFirstAccountDay(): Promise<string | null> {
  const first = await AccountModel.findOne({}, { createdAt: 1 }).sort({ _id: 1 }).lean<{ createdAt: Date }>();
  return first && businessDay(first.createdAt);
}
