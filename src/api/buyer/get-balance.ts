import { getWallet } from '../../money/wallets/balance-of.js';
import { defineOperation } from '../operation.js';
import { balanceData } from '../schemas.js';

export const getBuyerBalance = defineOperation({
  id: 'getBuyerBalance',
  method: 'post',
  needs: 'trade',
  path: '/api/buyer/balance',
  role: 'buyer',
  tag: 'Buyer',
  summary: 'Wallet balance',
  description: 'What can be spent now: debits of accepted purchases have left it already.',
  data: balanceData,
  async handle({ account }) {
    const wallet = await getWallet(account._id);
    return { data: { balance: wallet.balance, currency: 'IDR' } };
  },
});
