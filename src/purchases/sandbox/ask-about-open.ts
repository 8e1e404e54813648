import { addJobs } from '../../jobs/add-job.js';
import { askProviderJob } from '../fulfil/ask-provider.job.js';
import { purchases } from '../purchase.model.js';

/** Of one call; more are found by the next. */
const purchasesMax = 500;

/**
 * Has workers look at the open purchases of an account now, before the schedule would: an order that was sent is asked about, one
 * without a seller looks for one. They do what they would do later, and nothing is sent twice. What waits for a person is left to
 * him. @returns how many. @throws DependencyError while Redis is away.
 */
export async function checkOpenPurchases(accountId: string): Promise<number> {
  const open = await purchases
    .find({ accountId, status: { $in: ['PENDING', 'PROCESSING'] }, reviewSince: null })
    .project<{ _id: string }>({ _id: 1 })
    .limit(purchasesMax)
    .toArray();
  await addJobs(
    askProviderJob,
    open.map(({ _id: purchaseId }) => ({ purchaseId, accountId, askNow: true })),
  );
  return open.length;
}
