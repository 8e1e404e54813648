import { AccountModel } from './account.model.js';

/** The usernames of accounts by their ids, in one query. Ids that no account has are missing. */
export async function findUsernames(ids: readonly string[]): Promise<Record<string, string>> {
  const found = await AccountModel.find({ _id: { $in: [...new Set(ids)] } }, { username: 1 }).lean();
  return Object.fromEntries(found.map((each) => [each._id, each.username]));
}
