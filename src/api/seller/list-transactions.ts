import Joi from 'joi';
import { listTransactions } from '../../purchases/list-purchases.js';
import { pagination } from '../fields.js';
import { defineOperation } from '../operation.js';
import { historyBody, presentPage, wantedBy, type HistoryBody } from '../history.js';
import { saleColumns } from '../../reports/report-columns.js';
import { saleRow } from '../../reports/report-rows.js';
import { itemData } from '../reports/item-data.js';

export const listSellerTransactions = defineOperation<HistoryBody>({
  id: 'listSellerTransactions',
  method: 'post',
  needs: 'trade',
  path: '/api/seller/transactions',
  role: 'seller',
  tag: 'Seller',
  summary: 'Your sales, newest first',
  description: 'Who bought is not shown; the customer number is masked but for its last four digits.',
  body: historyBody,
  data: Joi.object({
    transactions: Joi.array().items(itemData(saleColumns)).required(),
    pagination: pagination.required(),
  }),
  async handle({ account, body }) {
    const found = await listTransactions({
      owner: { sellerId: account._id },
      ...wantedBy(body),
    });
    return {
      data: {
        transactions: found.purchases.map((each) => saleRow(each, body.tz)),
        pagination: presentPage(body, found.total),
      },
    };
  },
});
