import { NotFoundError } from '../shared/errors.js';
import { asWritten } from '../shared/say.js';
import { AccountModel, type Account } from './account.model.js';

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
