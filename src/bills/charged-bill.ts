import type { Quote } from './quote.model.js';

/** A bill as its buyer pays it: the markup is part of the admin fee, so that bill and fee make the total. Rupiah. */
export function toChargedBill<T extends Pick<Quote, 'adminFee' | 'totalAmount' | 'markup'>>({
  adminFee,
  totalAmount,
  markup = 0,
}: T): Pick<T, 'adminFee' | 'totalAmount'> {
  return {
    adminFee: adminFee === null ? null : adminFee + markup,
    totalAmount: totalAmount === null ? null : totalAmount + markup,
  };
}
