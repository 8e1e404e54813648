import Joi from 'joi';
import type { PlayedEnd } from '../../providers/adapter.js';
import { endPurchase } from '../../purchases/sandbox/end-purchase.js';
import { text } from '../fields.js';
import { defineOperation } from '../operation.js';
import { presentBuyerTransaction } from '../presenters.js';
import { buyerTransactionData } from '../schemas.js';

interface Body {
  result: PlayedEnd;
}

interface Params {
  ref: string;
}

export const endTransaction = defineOperation<Body, Params>({
  id: 'endSandboxTransaction',
  method: 'post',
  needs: 'trade',
  path: '/api/sandbox/transactions/:ref/end',
  role: 'buyer',
  tag: 'Sandbox',
  summary: 'Have the simulator end a transaction of yours now',
  description:
    'By your ref_id or our transaction_id. The simulator is asked about it at once, so webhooks and callbacks come as from a real ' +
    'provider. Code 05 until it has this end.',
  params: Joi.object<Params>({ ref: text(64).required() }),
  body: Joi.object<Body>({
    result: Joi.string()
      .valid('success', 'failed', 'reversed')
      .required()
      .description('success, failed: of one that is under way. reversed: takes back a success.')
      .example('failed'),
  }),
  data: buyerTransactionData,
  failures: [404, 409],
  async handle({ account, params, body }) {
    const { purchase, isEnded } = await endPurchase(account, params.ref, body.result);
    return { code: isEnded ? '00' : '05', data: presentBuyerTransaction(purchase) };
  },
});
