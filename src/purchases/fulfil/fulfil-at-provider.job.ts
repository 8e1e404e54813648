import type { Job } from '../../jobs/define-job.js';
import { getProviderQueue } from '../../providers/provider-queue.js';
import { fulfilPurchaseJob, type PurchaseData } from './fulfil-purchase.job.js';

const jobsBySeller = new Map<string, Job<PurchaseData>>();

/** The job of a purchase that waits for its turn at the provider of this seller, in the provider's own queue. */
export function getProviderFulfilmentJob(sellerId: string): Job<PurchaseData> {
  const found = jobsBySeller.get(sellerId) ?? { ...fulfilPurchaseJob, queue: getProviderQueue(sellerId) };
  jobsBySeller.set(sellerId, found);
  return found;
}
