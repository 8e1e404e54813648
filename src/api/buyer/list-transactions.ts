import Joi from 'joi';
import { listTransactions } from '../../purchases/list-purchases.js';
import { pagination } from '../fields.js';
import { historyBody, presentPage, wantedBy, type HistoryBody } from '../history.js';
import { defineOperation } from '../operation.js';
import { presentBuyerTransaction } from '../presenters.js';
import { buyerTransactionData } from '../schemas.js';

export const listBuyerTransactions = defineOperation<HistoryBody>({
  id: 'listBuyerTransactions',
  method: 'post',
  needs: 'trade',
  path: '/api/buyer/transactions',
  role: 'buyer',
  tag: 'Buyer',
  summary: 'Transaction history, newest first',
  description:
    'Dates are whole days in business time, both ends included; default the last 30 days, at most 366.',
  body: historyBody,
  data: Joi.object({
    transactions: Joi.array().items(buyerTransactionData).required(),
    pagination: pagination.required(),
  }),
  async handle({ account, body }) {
    const { purchases, total } = await listTransactions({
      owner: { accountId: account._id },
      ...wantedBy(body),
    });
    return {
      data: {
        transactions: purchases.map(presentBuyerTransaction),
        pagination: presentPage(body, total),
      },
    };
  },
});
