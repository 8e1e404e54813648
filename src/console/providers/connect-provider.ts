import Joi from 'joi';
import { nameSchema, text } from '../../api/contract/fields.js';
import { getAdapter } from '../../providers/get-adapter.js';
import type { NewConnection } from '../../providers/check-connection.js';
import { buildCallbackUrl, getKind, kindNames } from '../../providers/provider-kinds.js';
import { sendTestOrder } from '../../providers/send-test-order.js';
import { connectSeller } from '../../purchases/fulfil/connect-seller.js';
import { usernamePattern, usernameRule } from '../../shared/input-rules.js';
import {
  defineConsoleOperation,
  reason,
  reasonBody,
  requiredObject,
  type Reason,
} from '../api/console-operation.js';
import { defineProviderOperation } from './define-provider-operation.js';

const kind = Joi.string().valid(...kindNames);
const texts = requiredObject({ en: Joi.string(), id: Joi.string() });

export const listProviderKinds = defineConsoleOperation({
  id: 'listProviderKinds',
  method: 'get',
  path: '/provider-kinds',
  action: 'provider.look',
  summary: 'Kinds of providers: default address, where callbacks are entered, and test purchases',
  data: requiredObject({
    kinds: Joi.array().items(
      nameSchema(
        'ProviderKind',
        requiredObject({
          kind,
          label: Joi.string(),
          address: Joi.string().allow(null).description('Null: the address must be given.'),
          callback_url: Joi.string().allow(null).description('Null: BASE_URL is not set.'),
          callback_help: texts,
          has_test: Joi.boolean(),
          test_help: texts,
        }),
      ),
    ),
  }),
  handle: () =>
    Promise.resolve({
      kinds: kindNames.map((each) => {
        const known = getKind(each);
        return {
          kind: each,
          label: known.label,
          address: known.getDefaultAddress(),
          callback_url: buildCallbackUrl(each),
          callback_help: known.callbackHelp,
          has_test: getAdapter(each).sendTestOrder !== undefined,
          test_help: known.testHelp,
        };
      }),
    }),
});

interface Body extends Reason {
  seller: string;
  kind: NewConnection['kind'];
  base_url: string | null;
  username: string;
  secret: string;
  anyway: boolean;
}

export const connectProviderCall = defineConsoleOperation<Body>({
  id: 'connectProvider',
  method: 'post',
  path: '/provider-connections',
  action: 'provider.set',
  summary: 'Check a connection to a provider and store it, for a new or an existing seller',
  body: Joi.object<Body>({
    seller: text(40).pattern(usernamePattern).required().messages({ 'string.pattern.base': usernameRule }),
    kind: kind.required(),
    base_url: Joi.string()
      .max(500)
      .uri({ scheme: ['http', 'https'] })
      .allow(null)
      .default(null)
      .description('Null: the default address of the kind.'),
    username: text(100).required().description('Our username at the provider.'),
    secret: text(500).required().description('Our secret there. It is stored encrypted and never shown.'),
    anyway: Joi.boolean().default(false).description('Store the connection also if the check fails.'),
    reason,
  }),
  data: requiredObject({
    seller: Joi.string(),
    api_key: Joi.string().allow(null).description('Key of a new seller, shown only here.'),
    balance: Joi.number().allow(null),
    problem: Joi.string().allow(null),
    callback_url: Joi.string().allow(null),
    callback_secret: Joi.string().allow(null).description('Enter it at the provider. Shown only here.'),
    callback_help: texts,
    has_test: Joi.boolean(),
  }),
  async handle({ body, by }) {
    const { seller, base_url: baseUrl, username, secret, anyway } = body;
    const done = await connectSeller(seller, { kind: body.kind, baseUrl, username, secret, anyway }, by);
    return {
      seller,
      api_key: done.apiKey,
      balance: done.balance,
      problem: done.problem,
      callback_url: done.callbackUrl,
      callback_secret: done.callbackSecret,
      callback_help: getKind(body.kind).callbackHelp,
      has_test: getAdapter(body.kind).sendTestOrder !== undefined,
    };
  },
});

export const sendTestOrderCall = defineProviderOperation({
  id: 'sendTestOrder',
  method: 'post',
  verb: 'test-order',
  action: 'provider.set',
  summary: "Send one order in a provider's own test mode; it moves no money and stores no purchase",
  body: reasonBody,
  data: requiredObject({
    reference: Joi.string(),
    outcome: Joi.string(),
    code: Joi.string(),
    message: Joi.string().allow(''),
    serial_number: Joi.string().allow(null),
  }),
  async run(seller, { by }) {
    const { reference, outcome } = await sendTestOrder(seller, by);
    return {
      reference,
      outcome: outcome.outcome,
      code: outcome.code,
      message: outcome.message,
      serial_number: 'serialNumber' in outcome ? outcome.serialNumber : null,
    };
  },
});
