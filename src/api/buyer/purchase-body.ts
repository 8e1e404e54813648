import Joi from 'joi';
import { customerNumber, maxPrice, productCode, newRefId } from '../fields.js';

/** What a buyer sends to buy a product or to pay a bill (docs/reference/api/purchases.md). */
export interface PurchaseBody {
  code: string;
  customer_number: string;
  ref_id: string;
  max_price?: number;
}

export const purchaseBody = Joi.object<PurchaseBody>({
  code: productCode.required(),
  customer_number: customerNumber.required(),
  ref_id: newRefId.required(),
  max_price: maxPrice,
});

/** The same in the words of the domain. */
export function toPurchaseRequest(body: PurchaseBody) {
  return {
    productCode: body.code,
    customerNumber: body.customer_number,
    refId: body.ref_id,
    maxPrice: body.max_price,
  };
}
