import Joi from 'joi';
import { limits } from '../../../config/limits.js';
import { createDeposit as deposit } from '../../deposits/create-deposit.js';
import { presentDeposit } from '../../deposits/present-deposit.js';
import { refId, rupiah } from '../fields.js';
import { defineOperation } from '../operation.js';
import { depositData } from '../schemas.js';

interface Body {
  amount: number;
  ref_id: string;
}

export const createDeposit = defineOperation<Body>({
  id: 'createDeposit',
  method: 'post',
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
    return stored.status === 'completed'
      ? { message: 'Deposit successful', data: presentDeposit(stored) }
      : { message: 'Deposit recorded, waiting for payment', data: presentDeposit(stored) };
  },
});
