import { AccountModel, accounts } from './account.model.js';

/**
 * Where to cut the accounts into so many ranges of equally many.
 * @returns the first account of each range but the first.
 * @throws Error if there are fewer accounts than ranges.
 */
export async function findShardSplits(ranges: number): Promise<string[]> {
  const total = await AccountModel.countDocuments();
  if (total < ranges) {
    throw new Error(`${total} accounts cannot lie on ${ranges} shards.`);
  }
  const splits: string[] = [];
  for (let range = 1; range < ranges; range++) {
    const [first] = await accounts
      .find({}, { projection: { _id: 1 } })
      .sort({ _id: 1 })
      .skip(Math.floor((range * total) / ranges))
      .limit(1)
      .toArray();
    splits.push(first?._id ?? '');
  }
  return splits;
}
