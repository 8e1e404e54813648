import { fulfilPurchase } from '../../../src/purchases/fulfil/fulfil-purchase.js';
import { PurchaseModel, type Purchase } from '../../../src/purchases/purchase.model.js';

/** Fulfils a purchase as its job does. Takes the account id from the purchase. */
export async function fulfilById(
  purchaseId: string,
  how?: Parameters<typeof fulfilPurchase>[1],
): ReturnType<typeof fulfilPurchase> {
  const { accountId } = await PurchaseModel.findById(purchaseId).lean<Purchase>().orFail();
  return fulfilPurchase({ purchaseId, accountId }, how);
}
