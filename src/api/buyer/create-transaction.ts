import Joi from 'joi';
import { createPurchase } from '../../purchases/accept/create-purchase.js';
import { customerNumber, maxPrice, productCode, refId } from '../fields.js';
import { defineOperation } from '../operation.js';
import { presentBuyerTransaction } from '../presenters.js';
import { replyCode } from '../reply-code.js';
import { buyerTransactionData } from '../schemas.js';

interface Body {
  code: string;
  customer_number: string;
  ref_id: string;
  max_price?: number;
}

export const createBuyerTransaction = defineOperation<Body>({
  id: 'createBuyerTransaction',
  method: 'post',
  path: '/api/buyer/transaction',
  role: 'buyer',
  tag: 'Buyer',
  summary: 'Buy a prepaid product',
  description:
    'The wallet is debited before this answers. Send the same call again after a lost answer: the same ref_id ' +
    'is never bought twice, and answers with the transaction as it is now (code 05 while it is under way).',
  body: Joi.object<Body>({
    code: productCode.required(),
    customer_number: customerNumber.required(),
    ref_id: refId.required(),
    max_price: maxPrice,
  }),
  data: buyerTransactionData,
  failures: [402, 404, 409, 422, 503],
  async handle({ account, body }) {
    const { purchase, created } = await createPurchase({
      account,
      surface: 'buyer',
      productCode: body.code,
      customerNumber: body.customer_number,
      refId: body.ref_id,
      maxPrice: body.max_price,
    });
    return {
      code: replyCode(purchase, created),
      message: created ? 'Transaction is being processed' : 'Known ref_id: the transaction as it is now',
      data: presentBuyerTransaction(purchase),
    };
  },
});
