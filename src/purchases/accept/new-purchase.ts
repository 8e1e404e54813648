import type { Product } from '../../products/product.model.js';
import { now } from '../../shared/clock.js';
import { newId } from '../../shared/ids.js';
import { sweepAfter } from '../fulfil/purchase-outbox.js';
import type { Purchase } from '../purchase.model.js';

/** A purchase as it is accepted: PENDING, and due for the sweep should its job get lost. Price in rupiah. */
export function newPurchase(
  input: Pick<
    Purchase,
    'accountId' | 'refId' | 'surface' | 'kind' | 'customerNumber' | 'price' | 'quoteId' | 'callbackUrl'
  > & { product: Product },
): Purchase {
  const { product, ...given } = input;
  const at = now();
  return {
    ...given,
    _id: newId(),
    productCode: product._id,
    productName: product.name,
    subcategory: product.subcategory,
    customerRule: product.customerNumber.kind,
    status: 'PENDING',
    version: 0,
    serialNumber: null,
    message: null,
    failureCode: null,
    sellerId: null,
    commissionAmount: null,
    epoch: 0,
    nextActionAt: sweepAfter(0),
    reviewSince: null,
    pendingNotified: false,
    createdAt: at,
    updatedAt: at,
    finalAt: null,
  };
}
