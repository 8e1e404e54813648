import Joi from 'joi';
import { findPurchase, findByRefs } from '../../purchases/find-purchase.js';
import {
  text,
  zoneQuery,
  type ZoneQuery,
  customerNumber,
  pagination,
  pathSafeRefId,
  tz,
} from '../contract/fields.js';
import { defineOperation } from '../contract/operation.js';
import { presentBuyerTransaction, buyerTransactionData } from '../contract/resources.js';
import { listTransactions } from '../../purchases/history.js';
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
import { limits } from '../../../config/limits.js';

interface Params {
  ref: string;
}

export const getBuyerTransaction = defineOperation<unknown, Params, ZoneQuery>({
  id: 'getBuyerTransaction',
  method: 'get',
  needs: 'trade',
  path: '/api/buyer/transactions/:ref',
  role: 'buyer',
  tag: 'Buyer',
  summary: 'One transaction, by your ref_id or our transaction_id',
  description: 'Use it if no webhook arrived. pending and processing are in progress, the others are final.',
  params: Joi.object<Params>({ ref: text(64).required() }),
  query: zoneQuery,
  data: buyerTransactionData,
  failures: [404],
  async handle({ account, params, query }) {
    return { data: presentBuyerTransaction(await findPurchase(account._id, params.ref), query.tz) };
  },
});

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
    '`code`, `customer_number` and `sn` search the newest 5,000 matches of the period.',
  body: Joi.object<ListTransactionsBody>({
    ...historyFields,
    ...searchFields,
    customer_number: customerNumber,
  }),
  data: Joi.object({
    transactions: Joi.array().items(buyerTransactionData).required(),
    period: historyPeriod.required(),
    pagination: pagination.required(),
  }),
  async handle({ account, body }) {
    const { purchases, total, period } = await listTransactions({
      owner: { accountId: account._id },
      ...toHistoryQuery(body),
      sought: toHistorySearch(body),
    });
    return {
      data: {
        transactions: purchases.map((each) => presentBuyerTransaction(each, body.tz)),
        period: presentPeriod(period, body.tz),
        pagination: presentPagination(body, total),
      },
    };
  },
});

interface LookupBody {
  ref_ids: string[];
  tz?: string;
}

export const lookupBuyerTransactions = defineOperation<LookupBody>({
  id: 'lookupBuyerTransactions',
  method: 'post',
  needs: 'trade',
  path: '/api/buyer/transactions/lookup',
  role: 'buyer',
  tag: 'Buyer',
  summary: 'Many transactions, by your ref_ids',
  description:
    'Use it if responses were lost. The result has the order of the request. Unknown ref_ids are in `not_found`: repeat those purchases with the same ref_id.',
  body: Joi.object<LookupBody>({
    ref_ids: Joi.array()
      .items(pathSafeRefId)
      .min(1)
      .max(limits.lookupMax)
      .required()
      .example(['order-20240301-0001', 'order-20240301-0009']),
    tz,
  }),
  data: Joi.object({
    transactions: Joi.array().items(buyerTransactionData).required(),
    not_found: Joi.array().items(Joi.string()).required(),
  }),
  async handle({ account, body }) {
    const asked = [...new Set(body.ref_ids)];
    const found = await findByRefs(account._id, asked);
    return {
      data: {
        transactions: asked
          .flatMap((ref) => found.get(ref) ?? [])
          .map((each) => presentBuyerTransaction(each, body.tz)),
        not_found: asked.filter((ref) => !found.has(ref)),
      },
    };
  },
});
