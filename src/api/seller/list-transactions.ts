import Joi from 'joi';
import { listTransactions } from '../../purchases/history.js';
import { pagination } from '../contract/fields.js';
import { defineOperation } from '../contract/operation.js';
import {
  historyFields,
  historyPeriod,
  presentPagination,
  presentPeriod,
  toHistorySearch,
  searchFields,
  toHistoryQuery,
  type HistoryBody,
  type SearchBody,
} from '../contract/list-queries.js';
import { saleColumns } from '../../reports/report-columns.js';
import { buildSaleRow } from '../../reports/report-rows.js';
import { buildItemSchema } from '../reports/report-data.js';

type Body = HistoryBody & Omit<SearchBody, 'customer_number'>;

export const listSellerTransactions = defineOperation<Body>({
  id: 'listSellerTransactions',
  method: 'post',
  needs: 'trade',
  path: '/api/seller/transactions',
  role: 'seller',
  tag: 'Seller',
  summary: 'Your sales, newest first',
  description:
    'The buyer is not shown, and the customer number is masked except for its last four digits. ' +
    '`code` and `sn` search the newest 5,000 matches of the period.',
  body: Joi.object<Body>({ ...historyFields, ...searchFields }),
  data: Joi.object({
    transactions: Joi.array().items(buildItemSchema(saleColumns)).required(),
    period: historyPeriod.required(),
    pagination: pagination.required(),
  }),
  async handle({ account, body }) {
    const found = await listTransactions({
      owner: { sellerId: account._id },
      ...toHistoryQuery(body),
      sought: toHistorySearch(body),
    });
    return {
      data: {
        transactions: found.purchases.map((each) => buildSaleRow(each, body.tz)),
        period: presentPeriod(found.period, body.tz),
        pagination: presentPagination(body, found.total),
      },
    };
  },
});
