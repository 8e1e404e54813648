import type { PurchaseStatus } from './purchase.model.js';

export type ShownStatus = 'pending' | 'processing' | 'success' | 'failed';

/** The lower-case statuses of the buyer and seller surfaces (docs/reference/api/purchases.md). */
export function toShownStatus(status: PurchaseStatus): ShownStatus {
  switch (status) {
    case 'PENDING':
      return 'pending';
    case 'PROCESSING':
      return 'processing';
    case 'SUCCESS':
      return 'success';
    case 'FAILED':
    case 'REFUNDED':
      return 'failed';
  }
}
