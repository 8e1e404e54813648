import Joi from 'joi';
import { sandboxScenarios } from '../../../config/sandbox-scenarios.js';
import { requireSandbox } from '../../accounts/effective-settings.js';
import { nameSchema, text } from '../contract/fields.js';
import { defineOperation } from '../contract/operation.js';
import type { PlayedEnd } from '../../providers/adapter.js';
import { endPurchase, checkOpenPurchases } from '../../purchases/sandbox/sandbox-purchases.js';
import { presentBuyerTransaction, buyerTransactionData } from '../contract/resources.js';
import { endQuotes } from '../../bills/quotes.js';
import { sendWaitingDeliveriesNow } from '../../webhooks/deliver/delivery-jobs.js';

const results = [...new Set(sandboxScenarios.map(({ result }) => result))];

const scenarioData = nameSchema(
  'SandboxScenario',
  Joi.object({
    ending: Joi.string()
      .required()
      .description('The last four digits of the customer number.')
      .example('1230'),
    about: Joi.string()
      .valid('transaction', 'inquiry', 'payment')
      .required()
      .description('What it happens to: any transaction, the inquiry of a bill, or the payment of a bill.'),
    result: Joi.string()
      .valid(...results)
      .required()
      .description(
        'The status that it ends with. Of an inquiry `bill`. Or the `reason` with which the call is refused.',
      ),
    description: Joi.string().required(),
  }),
);

export const listScenarios = defineOperation({
  id: 'listSandboxScenarios',
  method: 'get',
  needs: 'trade',
  path: '/api/sandbox/scenarios',
  role: 'buyer',
  tag: 'Sandbox',
  summary: 'Customer numbers that play a story',
  description: 'The simulator behaves by this list. Numbers with another ending have one bill, and succeed.',
  data: Joi.array().items(scenarioData),
  handle: ({ account }) => {
    requireSandbox(account);
    const data = sandboxScenarios.map(({ ending, about, result, description }) => ({
      ending,
      about,
      result,
      description,
    }));
    return Promise.resolve({ data });
  },
});

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

/** No clock moves. Work of this account that is due later becomes due now (decision 033). */
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
      sendWaitingDeliveriesNow(account._id),
      checkOpenPurchases(account._id),
      endQuotes(account._id),
    ]);
    return { data: { deliveries, transactions, bills } };
  },
});
