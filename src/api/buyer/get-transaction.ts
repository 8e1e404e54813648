import Joi from 'joi';
import { findPurchase } from '../../purchases/find-purchase.js';
import { text, zoned, type Zoned } from '../fields.js';
import { defineOperation } from '../operation.js';
import { presentBuyerTransaction } from '../presenters.js';
import { buyerTransactionData } from '../schemas.js';

interface Params {
  ref: string;
}

export const getBuyerTransaction = defineOperation<unknown, Params, Zoned>({
  id: 'getBuyerTransaction',
  method: 'get',
  needs: 'trade',
  path: '/api/buyer/transactions/:ref',
  role: 'buyer',
  tag: 'Buyer',
  summary: 'One transaction, by your ref_id or our transaction_id',
  description: 'For when no webhook came. pending and processing are under way, the others are final.',
  params: Joi.object<Params>({ ref: text(64).required() }),
  query: zoned,
  data: buyerTransactionData,
  failures: [404],
  async handle({ account, params, query }) {
    return { data: presentBuyerTransaction(await findPurchase(account._id, params.ref), query.tz) };
  },
});
