import Joi from 'joi';
import { listTransactions } from '../../purchases/list-purchases.js';
import { customerNumber, pagination } from '../fields.js';
import {
  historyFields,
  presentPagination,
  toHistorySearch,
  searchFields,
  toHistoryQuery,
  type HistoryBody,
  type SearchBody,
} from '../history.js';
import { defineOperation } from '../operation.js';
import { presentBuyerTransaction } from '../presenters.js';
import { buyerTransactionData } from '../schemas.js';

type ListTransactionsBody = HistoryBody & SearchBody;

export const listBuyerTransactions = defineOperation<ListTransactionsBody>({
  id: 'listBuyerTransactions',
  method: 'post',
  needs: 'trade',
  path: '/api/buyer/transactions',
  role: 'buyer',
  tag: 'Buyer',
  summary: 'Transaction history, newest first',
  description:
    'Dates are whole days in business time, both ends included; default the last 30 days, at most 366. ' +
    '`code`, `customer_number` and `sn` look among the newest 5,000 that have them in the period.',
  body: Joi.object<ListTransactionsBody>({
    ...historyFields,
    ...searchFields,
    customer_number: customerNumber,
  }),
  data: Joi.object({
    transactions: Joi.array().items(buyerTransactionData).required(),
    pagination: pagination.required(),
  }),
  async handle({ account, body }) {
    const { purchases, total } = await listTransactions({
      owner: { accountId: account._id },
      ...toHistoryQuery(body),
      sought: toHistorySearch(body),
    });
    return {
      data: {
        transactions: purchases.map((each) => presentBuyerTransaction(each, body.tz)),
        pagination: presentPagination(body, total),
      },
    };
  },
});
