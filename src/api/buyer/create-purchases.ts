import Joi from 'joi';
import { customerNumber, maxPrice, productCode, newRefId, nameSchema } from '../contract/fields.js';
import { createPurchase } from '../../purchases/accept/accept-purchase.js';
import { defineOperation } from '../contract/operation.js';
import { presentBuyerTransaction, getReplyCode, buyerTransactionData } from '../contract/resources.js';
import { say } from '../../shared/say.js';
import { createPayment as pay } from '../../purchases/accept/create-payment.js';
import { toShownStatus } from '../../purchases/states.js';

/** Body of a purchase or bill payment (docs/reference/api/purchases.md). */
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

/** Maps the body to the names of the domain. */
export function toPurchaseRequest(body: PurchaseBody) {
  return {
    productCode: body.code,
    customerNumber: body.customer_number,
    refId: body.ref_id,
    maxPrice: body.max_price,
  };
}

export const createBuyerTransaction = defineOperation<PurchaseBody>({
  id: 'createBuyerTransaction',
  method: 'post',
  needs: 'trade',
  path: '/api/buyer/transaction',
  role: 'buyer',
  tag: 'Buyer',
  summary: 'Buy a prepaid product',
  description:
    'The wallet is debited before the response. If the response is lost, send the same call again: a ref_id is ' +
    'never bought twice. A repeated call returns the current transaction (code 05 while it is in progress).',
  body: purchaseBody,
  data: buyerTransactionData,
  failures: [402, 404, 409, 422, 503],
  async handle({ account, body, requestId }) {
    const { purchase, created } = await createPurchase({
      account,
      surface: 'buyer',
      ...toPurchaseRequest(body),
      requestId,
    });
    return {
      code: getReplyCode(purchase, created),
      message: say(created ? 'transactionAccepted' : 'transactionAsItIs'),
      data: presentBuyerTransaction(purchase),
    };
  },
});

export const createPayment = defineOperation<PurchaseBody>({
  id: 'createPayment',
  method: 'post',
  needs: 'trade',
  path: '/api/buyer/payment',
  role: 'buyer',
  tag: 'Buyer',
  summary: 'Pay a postpaid bill',
  description:
    'Pays the newest inquiry of today for this customer at its total. Without one, it makes the inquiry itself. ' +
    'The wallet is debited before the response.',
  body: purchaseBody,
  data: nameSchema(
    'Payment',
    Joi.object({
      ref_id: Joi.string().required(),
      transaction_id: Joi.string().required(),
      customer_number: Joi.string().required(),
      product_name: Joi.string().required(),
      price: Joi.number().required(),
      status: Joi.string().valid('pending', 'processing', 'success', 'failed').required(),
    }),
  ),
  failures: [402, 404, 409, 422, 503],
  async handle({ account, body, requestId }) {
    const { purchase, created } = await pay({
      account,
      surface: 'buyer',
      ...toPurchaseRequest(body),
      requestId,
    });
    return {
      code: getReplyCode(purchase, created),
      message: say(created ? 'paymentAccepted' : 'paymentAsItIs'),
      data: {
        ref_id: purchase.refId,
        transaction_id: purchase._id,
        customer_number: purchase.customerNumber,
        product_name: purchase.productName,
        price: purchase.price,
        status: toShownStatus(purchase.status),
      },
    };
  },
});
