import { getWallet } from '../../money/wallets/wallet-balance.js';
import { defineOperation } from '../contract/operation.js';
import { balanceData, depositData } from '../contract/resources.js';
import Joi from 'joi';
import { limits } from '../../../config/limits.js';
import { createDeposit as deposit } from '../../deposits/create-deposit.js';
import { type Deposit, deposits } from '../../deposits/deposit.model.js';
import { presentDeposit } from '../../deposits/present-deposit.js';
import { refId, rupiah } from '../contract/fields.js';
import { say, type Message } from '../../shared/say.js';
import { findDocumentPage } from '../../database/document-page.js';
import {
  buildListFilterSchema,
  nextCursor,
  buildPageQuery,
  type ListFilter,
} from '../contract/list-queries.js';

export const getBuyerBalance = defineOperation({
  id: 'getBuyerBalance',
  method: 'post',
  needs: 'trade',
  path: '/api/buyer/balance',
  role: 'buyer',
  tag: 'Buyer',
  summary: 'Wallet balance',
  description: 'The spendable balance. Accepted purchases are already debited.',
  data: balanceData,
  async handle({ account }) {
    const wallet = await getWallet(account._id);
    return { data: { balance: wallet.balance, currency: 'IDR' } };
  },
});

interface Body {
  amount: number;
  ref_id: string;
}

const messages: Record<Deposit['status'], Message> = {
  completed: say('depositCompleted'),
  pending: say('depositPending'),
  rejected: say('depositRejected'),
};

export const createDeposit = defineOperation<Body>({
  id: 'createDeposit',
  method: 'post',
  needs: 'trade',
  path: '/api/buyer/deposit',
  role: 'buyer',
  tag: 'Buyer',
  summary: 'Deposit funds into the wallet',
  description:
    'With DEPOSIT_MODE=instant the balance rises at once. With confirm the deposit is `pending` and ' +
    '`balance_after` equals `balance_before` until the payment is confirmed (webhook deposit.completed).',
  body: Joi.object<Body>({
    amount: rupiah({ min: limits.depositMin, max: limits.depositMax }).required().example(100_000),
    ref_id: refId.required(),
  }),
  data: depositData,
  failures: [409],
  async handle({ account, body }) {
    const { deposit: stored } = await deposit({ account, amount: body.amount, refId: body.ref_id });
    return { message: messages[stored.status], data: presentDeposit(stored) };
  },
});

const statuses = ['pending', 'completed', 'rejected'] as const;

export const listBuyerDeposits = defineOperation<unknown, unknown, ListFilter<(typeof statuses)[number]>>({
  id: 'listBuyerDeposits',
  method: 'get',
  needs: 'trade',
  path: '/api/buyer/deposits',
  role: 'buyer',
  tag: 'Buyer',
  summary: 'Your deposits, newest first',
  description: 'Dates are whole days in business time, both ends included. Without dates: all deposits.',
  query: buildListFilterSchema(statuses),
  data: Joi.object({
    deposits: Joi.array().items(depositData).required(),
    next_cursor: nextCursor,
  }),
  conditional: true,
  async handle({ account, query }) {
    const { found, next } = await findDocumentPage(deposits, ...buildPageQuery<Deposit>(account._id, query));
    return { data: { deposits: found.map((each) => presentDeposit(each, query.tz)), next_cursor: next } };
  },
});
