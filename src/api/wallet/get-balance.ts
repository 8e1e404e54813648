import { getWallet } from '../../money/wallets/balance-of.js';
import { defineOperation } from '../operation.js';
import { balanceData } from '../schemas.js';

export const getWalletBalance = defineOperation({
  id: 'getWalletBalance',
  method: 'get',
  needs: 'trade',
  path: '/v1/wallet/balance',
  role: 'buyer',
  tag: 'Wallet',
  summary: 'Wallet balance',
  description: 'What can be spent now: debits of accepted purchases have left it already.',
  data: balanceData,
  async handle({ account }) {
    const wallet = await getWallet(account._id);
    return { data: { balance: wallet.balance, currency: 'IDR' } };
  },
});
