import Joi from 'joi';
import { sandboxScenarios } from '../../../config/sandbox-scenarios.js';
import { requireSandbox } from '../../accounts/require-sandbox.js';
import { nameSchema } from '../named.js';
import { defineOperation } from '../operation.js';

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
