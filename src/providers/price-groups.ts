import { AccountModel } from '../accounts/account.model.js';
import { groupIdRange, getMarkupIdRange, MarkupModel } from '../products/markup.model.js';

/** Maximum number of accounts counted per group. */
export const groupAccountsCountedMax = 1_000;

/**
 * A group of buyers with its own markups. A group exists as soon as an account or a markup names
 * it.
 */
export interface PriceGroup {
  name: string;
  /** Number of accounts in the group, at most `groupAccountsCountedMax`. */
  accounts: number;
}

/**
 * Returns a page of price groups, ordered by name.
 * @param query.after The last name of the previous page.
 */
export async function listPriceGroups(query: {
  after?: string | undefined;
  limit: number;
}): Promise<{ groups: PriceGroup[]; next: string | null }> {
  const { after = '', limit } = query;
  const names: string[] = [];
  let name = await findNextName(after);
  while (name !== null && names.length < limit) {
    names.push(name);
    name = await findNextName(name);
  }
  const groups = await Promise.all(
    names.map(async (each) => ({ name: each, accounts: await countAccountsOfGroup(each) })),
  );
  return { groups, next: name === null ? null : (names.at(-1) ?? null) };
}

/** Counts the accounts of a group, up to `groupAccountsCountedMax`. */
export function countAccountsOfGroup(name: string): Promise<number> {
  return AccountModel.countDocuments({ priceGroup: name }).limit(groupAccountsCountedMax);
}

/** Finds the next group name by index seeks, so that it does not read every account of a group. */
async function findNextName(after: string): Promise<string | null> {
  const [account, rule] = await Promise.all([
    AccountModel.findOne({ priceGroup: { $gt: after } }, { priceGroup: 1 })
      .sort({ priceGroup: 1 })
      .lean(),
    MarkupModel.findOne(
      { _id: { $gt: getMarkupIdRange({ accountId: null, priceGroup: after }).to, $lt: groupIdRange.to } },
      { priceGroup: 1 },
    )
      .sort({ _id: 1 })
      .lean(),
  ]);
  const names = [account, rule].flatMap((each) => each?.priceGroup ?? []);
  return names.sort()[0] ?? null;
}
