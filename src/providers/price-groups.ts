import { AccountModel } from '../accounts/account.model.js';
import { groupIdRange, getMarkupIdRange, MarkupModel } from '../products/markup.model.js';

/** So far the accounts of a group are counted. */
export const groupAccountsCountedMax = 1_000;

/** Buyers that have markups of their own in common. There is one as soon as an account or a rule names it. */
export interface PriceGroup {
  name: string;
  /** Up to `groupAccountsCountedMax`. */
  accounts: number;
}

/** A page of the groups by name. @param query.after The name of the last one seen. */
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

/** Up to `groupAccountsCountedMax`. */
export function countAccountsOfGroup(name: string): Promise<number> {
  return AccountModel.countDocuments({ priceGroup: name }).limit(groupAccountsCountedMax);
}

/** From one name to the next along the indexes, so that those who share one are not read. */
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
