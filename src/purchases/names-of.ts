import type { Purchase } from './purchase.model.js';

/** For a log line of a purchase. */
export function getLogFields({ _id, requestId }: Pick<Purchase, '_id' | 'requestId'>) {
  return { purchaseId: _id, ...(requestId !== undefined && { requestId }) };
}
