import { isFinal } from '../../purchases/states.js';
import type { Purchase } from '../../purchases/purchase.model.js';
import { asWritten, say } from '../../shared/say.js';
import type { ResellerResponse } from './reseller-operation.js';

/**
 * Converts a purchase to the response in docs/reference/api/reseller.md.
 * @param created True if this call created the purchase.
 */
export function presentResellerPurchase(purchase: Purchase, created: boolean): ResellerResponse {
  const about = { ref_id: purchase.refId, sn: purchase.serialNumber };
  if (!isFinal(purchase.status)) {
    const message = say(created ? 'success' : 'beingProcessed');
    return { status: created ? '00' : '05', message, ...about, transaction_status: 'pending' };
  }
  return purchase.status === 'SUCCESS'
    ? { status: '00', message: say('success'), ...about, transaction_status: 'success' }
    : {
        status: '01',
        message: purchase.message === null ? say('failedAndReturned') : asWritten(purchase.message),
        reason: 'transaction_failed',
        ...about,
        transaction_status: 'failed',
      };
}
