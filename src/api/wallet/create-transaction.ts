import Joi from 'joi';
import { createPurchase } from '../../purchases/accept/accept-purchase.js';
import { callbackUrl, customerNumber, maxPrice, productCode, newRefId } from '../contract/fields.js';
import { defineOperation } from '../contract/operation.js';
import { presentWalletTransaction, getReplyCode, walletPurchaseData } from '../contract/resources.js';
import { say } from '../../shared/say.js';

interface Body {
  product_code: string;
  destination: string;
  ref_id: string;
  max_price?: number;
  callback_url?: string | null;
}

export const createWalletTransaction = defineOperation<Body>({
  id: 'createWalletTransaction',
  method: 'post',
  needs: 'trade',
  path: '/v1/transactions',
  role: 'buyer',
  tag: 'Wallet',
  summary: 'Create a purchase and debit the wallet',
  description:
    'Returns 201 if it creates the transaction, and 200 if the ref_id is already known. When the transaction is ' +
    'final, the callback goes to `callback_url`, or to the callback_url of the account if it is absent.',
  body: Joi.object<Body>({
    product_code: productCode.required(),
    destination: customerNumber.required(),
    ref_id: newRefId.required(),
    max_price: maxPrice,
    callback_url: callbackUrl,
  }),
  data: walletPurchaseData,
  successStatuses: [200, 201],
  failures: [402, 404, 409, 422, 503],
  async handle({ account, body, requestId }) {
    const { purchase, created } = await createPurchase({
      account,
      surface: 'wallet',
      productCode: body.product_code,
      customerNumber: body.destination,
      refId: body.ref_id,
      maxPrice: body.max_price,
      callbackUrl: body.callback_url,
      requestId,
    });
    return {
      httpStatus: created ? 201 : 200,
      code: getReplyCode(purchase, created),
      message: say(created ? 'transactionAccepted' : 'transactionAsItIs'),
      data: presentWalletTransaction(purchase),
    };
  },
});
