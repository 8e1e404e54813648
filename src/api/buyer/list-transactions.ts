import Joi from 'joi';
import { listTransactions } from '../../transactions/list-transactions.js';
import { filterStatus, isoDay, page, pageSize, pagination } from '../fields.js';
import { defineOperation } from '../operation.js';
import { type BuyerStatus, presentBuyerTransaction } from '../presenters.js';
import { buyerTransactionData } from '../schemas.js';

export interface HistoryBody {
  status?: BuyerStatus;
  start_date?: string;
  end_date?: string;
  page: number;
  limit: number;
}

export const historyBody = Joi.object<HistoryBody>({
  status: filterStatus,
  start_date: isoDay,
  end_date: isoDay,
  page,
  limit: pageSize,
});

export const listBuyerTransactions = defineOperation<HistoryBody>({
  id: 'listBuyerTransactions',
  method: 'post',
  path: '/api/buyer/transactions',
  role: 'buyer',
  tag: 'Buyer',
  summary: 'Transaction history, newest first',
  description: 'Dates are whole days in business time, both ends included; default the last 30 days, at most 366.',
  body: historyBody,
  data: Joi.object({
    transactions: Joi.array().items(buyerTransactionData).required(),
    pagination: pagination.required(),
  }),
  async handle({ account, body }) {
    const { transactions, total } = await listTransactions({
      owner: { accountId: account._id },
      status: body.status,
      startDate: body.start_date,
      endDate: body.end_date,
      page: body.page,
      limit: body.limit,
    });
    return {
      data: {
        transactions: transactions.map(presentBuyerTransaction),
        pagination: {
          page: body.page,
          limit: body.limit,
          total,
          total_pages: Math.ceil(total / body.limit),
        },
      },
    };
  },
});
