import Joi from 'joi';
import { requireSandbox } from '../../accounts/require-sandbox.js';
import { endQuotes } from '../../bills/end-quotes.js';
import { checkOpenPurchases } from '../../purchases/sandbox/ask-about-open.js';
import { hurryDeliveries } from '../../webhooks/hurry-deliveries.js';
import { defineOperation } from '../operation.js';

/** No clock moves: what is this account's and due later becomes due (decision 033). */
export const advance = defineOperation({
  id: 'advanceSandbox',
  method: 'post',
  needs: 'trade',
  path: '/api/sandbox/advance',
  role: 'buyer',
  tag: 'Sandbox',
  summary: 'Make what of yours is due later due now',
  description:
    'Webhooks and callbacks that wait for their next attempt go out, transactions that are under way are asked about, and bills that were ' +
    'asked for and not paid are over. Nobody else notices. Call it again for the attempt after that.',
  data: Joi.object({
    deliveries: Joi.number().integer().required().description('That waited for their next attempt.'),
    transactions: Joi.number()
      .integer()
      .required()
      .description('Under way, that are asked about; at most 500.'),
    bills: Joi.number().integer().required().description('Open, that are over now.'),
  }),
  async handle({ account }) {
    requireSandbox(account);
    const [deliveries, transactions, bills] = await Promise.all([
      hurryDeliveries(account._id),
      checkOpenPurchases(account._id),
      endQuotes(account._id),
    ]);
    return { data: { deliveries, transactions, bills } };
  },
});
