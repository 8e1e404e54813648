import type { Job } from '../../jobs/define-job.js';
import { providerQueue } from '../../providers/provider-queue.js';
import { fulfilPurchaseJob, type PurchaseData } from './fulfil-purchase.job.js';

const jobs = new Map<string, Job<PurchaseData>>();

/** The job of a purchase that waits for its turn at the provider of this seller, in the provider's own queue. */
export function fulfilAtProviderJob(sellerId: string): Job<PurchaseData> {
  const found = jobs.get(sellerId) ?? { ...fulfilPurchaseJob, queue: providerQueue(sellerId) };
  jobs.set(sellerId, found);
  return found;
}
