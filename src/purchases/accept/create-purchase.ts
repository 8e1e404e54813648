import { loadMarkups } from '../../products/markups-of.js';
import { requireRoute } from '../../providers/route-or-refuse.js';
import { acceptPurchase, type AcceptedPurchase, type PurchaseRequest } from './accept-purchase.js';

/**
 * Accepts a prepaid purchase (docs/reference/api/purchases.md) at the price of the offer that it would go to now and
 * what the operator adds to it for this account: the wallet is debited and the purchase stands before this returns; a worker fulfils it.
 * @throws MaintenanceError (503/03) if nobody can serve it now, and what acceptPurchase throws.
 */
export function createPurchase(request: PurchaseRequest): Promise<AcceptedPurchase> {
  return acceptPurchase('prepaid', request, async (product) => {
    const [route, markupOf] = await Promise.all([requireRoute(product), loadMarkups(request.account)]);
    const markup = markupOf(product, route.price);
    return { price: route.price + markup, markup, offerSellerId: route.sellerId, quoteId: null };
  });
}
