import Joi from 'joi';
import type { BillOutcome } from './adapter.js';
import { toSellableBill } from './check-bill.js';
import { readBillDetails } from './digiflazz-bill.js';
import { decidingRupiah, informativeText } from './informative-fields.js';
import { cleanMessage } from './json-response.js';

/** The fields that only a bill has. Only the amounts and the id of the inquiry must be readable. */
export interface IakBillFields {
  /** IAK's id of the inquiry. A payment names it. */
  tr_id: string;
  tr_name?: string | null;
  period?: string | null;
  /** Admin fee in rupiah. */
  admin: number;
  /** The total of the bill in rupiah, with the admin fee. */
  price: number;
  /** Rupiah that IAK takes from our balance. */
  selling_price: number;
  desc?: unknown;
}

export const inquiryIdPattern = /^\d{1,20}$/;

export const iakBillFields = {
  tr_id: Joi.string().pattern(inquiryIdPattern).required(),
  tr_name: informativeText,
  period: informativeText,
  admin: decidingRupiah.required(),
  price: decidingRupiah.required(),
  selling_price: decidingRupiah.required(),
  desc: Joi.any(),
};

export function toIakBill(data: IakBillFields): BillOutcome {
  const { price, admin, selling_price: cost } = data;
  return toSellableBill({
    customerName: cleanMessage(data.tr_name, '-'),
    ...readBillDetails({ periode: data.period ?? null, desc: data.desc }),
    totalBill: price - admin,
    adminFee: admin,
    totalAmount: price,
    cost,
  });
}
