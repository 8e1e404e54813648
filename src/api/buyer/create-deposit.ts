import Joi from 'joi';
import { limits } from '../../../config/limits.js';
import { createDeposit as deposit } from '../../deposits/create-deposit.js';
import type { Deposit } from '../../deposits/deposit.model.js';
import { presentDeposit } from '../../deposits/present-deposit.js';
import { refId, rupiah } from '../fields.js';
import { defineOperation } from '../operation.js';
import { depositData } from '../schemas.js';
import { say, type Message } from '../../shared/say.js';

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
