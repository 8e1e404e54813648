import Joi from 'joi';
import { findPurchase } from '../../purchases/find-purchase.js';
import { text, zoned, type Zoned } from '../fields.js';
import { defineOperation } from '../operation.js';
import { presentWalletTransaction } from '../presenters.js';
import { walletPurchaseData } from '../schemas.js';

interface Params {
  id: string;
}

export const getWalletTransaction = defineOperation<unknown, Params, Zoned>({
  id: 'getWalletTransaction',
  method: 'get',
  needs: 'trade',
  path: '/v1/transactions/:id',
  role: 'buyer',
  tag: 'Wallet',
  summary: 'Status of a transaction, by our id or your ref_id',
  description: 'For when no callback came. PENDING and PROCESSING are under way, the others are final.',
  params: Joi.object<Params>({ id: text(64).required() }),
  query: zoned,
  data: walletPurchaseData,
  failures: [404],
  async handle({ account, params, query }) {
    return { data: presentWalletTransaction(await findPurchase(account._id, params.id), query.tz) };
  },
});
