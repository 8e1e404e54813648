/** A seller who withdrew everything before one of the sales was reversed. */
import { requestAdjustment } from '../../../src/adjustments/request-adjustment.js';
import { postSellerCredits } from '../../../src/money/credits/seller-credits.js';
import { fulfilPurchase } from '../../../src/purchases/fulfil/fulfil-purchase.js';
import { reverseByOperator } from '../../../src/purchases/review/reverse-by-operator.js';
import { requestSettlement } from '../../../src/settlements/request-settlement.js';
import type { Settlement } from '../../../src/settlements/settlement.model.js';
import type { Account } from '../../../src/accounts/account.model.js';
import { newId } from '../../../src/shared/ids.js';
import { openShop } from '../../jobs/sold-purchases.js';

export const bankAccount = { bankCode: '014', accountNumber: '1234567890', accountName: 'PT Pulsa Jaya' };
export const budi = { actor: 'operator:budi', from: null, reason: 'BCA transfer 1' };
export const dewi = { actor: 'operator:dewi', from: null, reason: 'BCA transfer 2' };

/** The seller's debt in rupiah after the reversal. */
export const debt = 980;

/**
 * Opens a shop whose seller has one sale, and withdraws the whole balance.
 * @param baseUrl The address of a provider that sells every order.
 */
export async function withdrawEverything(
  baseUrl: string,
): Promise<{ seller: Account; settlement: Settlement; reverse: () => Promise<unknown> }> {
  const { seller, buy } = await openShop(baseUrl);
  await requestAdjustment({ account: seller, amount: 100_000 }, budi);
  const { _id, accountId } = await buy();
  await fulfilPurchase({ purchaseId: _id, accountId });
  await postSellerCredits(seller._id);
  const request = { account: seller, amount: 100_000 + debt, bankAccount, refId: newId() };
  const { settlement } = await requestSettlement(request);
  return { seller, settlement, reverse: () => reverseByOperator(_id, budi) };
}
