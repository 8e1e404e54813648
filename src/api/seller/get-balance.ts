import Joi from 'joi';
import { getWallet } from '../../money/wallets/balance-of.js';
import { defineOperation } from '../operation.js';

export const getSellerBalance = defineOperation({
  id: 'getSellerBalance',
  method: 'get',
  needs: 'trade',
  path: '/api/seller/balance',
  role: 'seller',
  tag: 'Seller',
  summary: 'What can be withdrawn, and what is on its way to the bank',
  description:
    'balance: what sales have credited and can be withdrawn. pending_settlement: withdrawals that are not paid out yet.',
  data: Joi.object({
    balance: Joi.number().required(),
    pending_settlement: Joi.number().required(),
    currency: Joi.string().valid('IDR').required(),
  }),
  async handle({ account }) {
    const wallet = await getWallet(account._id);
    return { data: { balance: wallet.balance, pending_settlement: wallet.held, currency: 'IDR' } };
  },
});
