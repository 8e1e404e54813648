import Joi from 'joi';
import { nameSchema } from '../named.js';
import { createPayment as pay } from '../../purchases/accept/create-payment.js';
import { defineOperation } from '../operation.js';
import { toShownStatus } from '../../purchases/shown-status.js';
import { purchaseBody, toPurchaseRequest, type PurchaseBody } from './purchase-body.js';
import { replyCode } from '../reply-code.js';
import { say } from '../../shared/say.js';

export const createPayment = defineOperation<PurchaseBody>({
  id: 'createPayment',
  method: 'post',
  needs: 'trade',
  path: '/api/buyer/payment',
  role: 'buyer',
  tag: 'Buyer',
  summary: 'Pay a postpaid bill',
  description:
    'Pays the newest inquiry of today for this customer at its total; without one it makes the inquiry itself. ' +
    'The wallet is debited before this answers.',
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
      code: replyCode(purchase, created),
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
