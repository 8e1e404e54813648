import { findConfirmed } from '../database/find-confirmed.js';
import { purchases, type Purchase } from './purchase.model.js';

/**
 * What an account has bought under these ref_ids, by ref_id, as a majority of the database holds it: "not found" is never said
 * of what a client may have seen. Not by `findByRef`: whoever buys waits for its shared query.
 */
export async function findByRefs(accountId: string, refIds: string[]): Promise<Map<string, Purchase>> {
  const found = await findConfirmed(purchases, { accountId, refId: { $in: refIds } });
  return new Map(found.map((each) => [each.refId, each]));
}
