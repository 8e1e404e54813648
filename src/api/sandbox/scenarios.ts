import Joi from 'joi';
import { sandboxScenarios } from '../../../config/sandbox-scenarios.js';
import { requireSandbox } from '../../accounts/effective-settings.js';
import { nameSchema, text } from '../contract/fields.js';
import { defineOperation } from '../contract/operation.js';
import type { SimulatedEnd } from '../../providers/adapter.js';
import { endPurchase, checkOpenPurchases } from '../../purchases/sandbox/sandbox-purchases.js';
import { presentBuyerTransaction, buyerTransactionData } from '../contract/resources.js';
import { expireQuotes } from '../../bills/quotes.js';
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
      .description('What the scenario applies to: any transaction, a bill inquiry, or a bill payment.'),
    result: Joi.string()
      .valid(...results)
      .required()
      .description(
        'The final status, `bill` for an inquiry that finds a bill, or the `reason` of the refused call.',
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
  summary: 'List the customer numbers with a scenario',
  description: 'The simulator follows this list. A number with another ending has one bill and succeeds.',
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
  result: SimulatedEnd;
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
  summary: 'End a transaction at the simulator now',
  description:
    'By your ref_id or our transaction_id. The service checks the status at once, so webhooks and callbacks ' +
    'are sent as with a real provider. Code 05 until the transaction has this result.',
  params: Joi.object<Params>({ ref: text(64).required() }),
  body: Joi.object<Body>({
    result: Joi.string()
      .valid('success', 'failed', 'reversed')
      .required()
      .description('success, failed: for a transaction in progress. reversed: reverses a success.')
      .example('failed'),
  }),
  data: buyerTransactionData,
  failures: [404, 409],
  async handle({ account, params, body }) {
    const { purchase, isEnded } = await endPurchase(account, params.ref, body.result);
    return { code: isEnded ? '00' : '05', data: presentBuyerTransaction(purchase) };
  },
});

/** Makes the account's scheduled work due now (decision 033). It does not move any clock. */
export const advanceSandbox = defineOperation({
  id: 'advanceSandbox',
  method: 'post',
  needs: 'trade',
  path: '/api/sandbox/advance',
  role: 'buyer',
  tag: 'Sandbox',
  summary: 'Do all scheduled work of your account now',
  description:
    'Sends webhooks and callbacks that wait for their next attempt, checks transactions in progress, and ' +
    'expires unpaid bill inquiries. Other accounts are not affected. Call it again for the next attempt.',
  data: Joi.object({
    deliveries: Joi.number().integer().required().description('Deliveries that are sent now.'),
    transactions: Joi.number()
      .integer()
      .required()
      .description('Transactions that are checked now; at most 500.'),
    bills: Joi.number().integer().required().description('Unpaid bill inquiries that expired now.'),
  }),
  async handle({ account }) {
    requireSandbox(account);
    const [deliveries, transactions, bills] = await Promise.all([
      sendWaitingDeliveriesNow(account._id),
      checkOpenPurchases(account._id),
      expireQuotes(account._id),
    ]);
    return { data: { deliveries, transactions, bills } };
  },
});
