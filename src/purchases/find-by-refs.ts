import { purchases, type Purchase } from './purchase.model.js';

/**
 * What an account has bought under these ref_ids, by ref_id, as a majority of the database holds it. Not by `findByRef`: whoever
 * buys waits for its shared query.
 */
export async function findByRefs(accountId: string, refIds: string[]): Promise<Map<string, Purchase>> {
  const found = await purchases
    .find({ accountId, refId: { $in: refIds } }, { readConcern: 'majority' })
    .toArray();
  return new Map(found.map((each) => [each.refId, each]));
}
