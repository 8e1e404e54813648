import Joi from 'joi';
import type { Sought } from '../../purchases/find-in-history.js';
import { listTransactions } from '../../purchases/list-purchases.js';
import { customerNumber, pagination, productCode, text } from '../fields.js';
import { historyFields, presentPage, wantedBy, type HistoryBody } from '../history.js';
import { defineOperation } from '../operation.js';
import { presentBuyerTransaction } from '../presenters.js';
import { buyerTransactionData } from '../schemas.js';

interface Body extends HistoryBody {
  code?: string;
  customer_number?: string;
  sn?: string;
}

export const listBuyerTransactions = defineOperation<Body>({
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
  body: Joi.object<Body>({
    ...historyFields,
    code: productCode,
    customer_number: customerNumber,
    sn: text(200)
      .min(1)
      .example('1234-5678-9012-3456-7890')
      .description('All of it, or the 20 digits of a PLN token.'),
  }),
  data: Joi.object({
    transactions: Joi.array().items(buyerTransactionData).required(),
    pagination: pagination.required(),
  }),
  async handle({ account, body }) {
    const { purchases, total } = await listTransactions({
      owner: { accountId: account._id },
      ...wantedBy(body),
      sought: soughtBy(body),
    });
    return {
      data: {
        transactions: purchases.map((each) => presentBuyerTransaction(each, body.tz)),
        pagination: presentPage(body, total),
      },
    };
  },
});

function soughtBy({ code, customer_number, sn }: Body): Sought | undefined {
  const isAnything = [code, customer_number, sn].some((each) => each !== undefined);
  return isAnything ? { productCode: code, customerNumber: customer_number, serialNumber: sn } : undefined;
}
