/**
 * The product and the buyers, both for our service and for the yardsticks. Prices are in rupiah.
 */
export const product = { code: 'S10', name: 'Telkomsel 10.000', price: 10_450 };
export const openingBalance = 9e11;
export const customerNumber = '081234560000';

export interface Buyer {
  id: string;
  key: string;
  webhookSecret: string;
}
