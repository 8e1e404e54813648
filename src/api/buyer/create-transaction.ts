import { createPurchase } from '../../purchases/accept/create-purchase.js';
import { defineOperation } from '../operation.js';
import { presentBuyerTransaction } from '../presenters.js';
import { purchaseBody, toPurchaseRequest, type PurchaseBody } from './purchase-body.js';
import { replyCode } from '../reply-code.js';
import { buyerTransactionData } from '../schemas.js';
import { say } from '../../shared/say.js';

export const createBuyerTransaction = defineOperation<PurchaseBody>({
  id: 'createBuyerTransaction',
  method: 'post',
  needs: 'trade',
  path: '/api/buyer/transaction',
  role: 'buyer',
  tag: 'Buyer',
  summary: 'Buy a prepaid product',
  description:
    'The wallet is debited before this answers. Send the same call again after a lost answer: the same ref_id ' +
    'is never bought twice, and answers with the transaction as it is now (code 05 while it is under way).',
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
      code: replyCode(purchase, created),
      message: say(created ? 'transactionAccepted' : 'transactionAsItIs'),
      data: presentBuyerTransaction(purchase),
    };
  },
});
