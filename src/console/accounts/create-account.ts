import Joi from 'joi';
import { createAccount } from '../../accounts/create-account.js';
import { text } from '../../api/contract/fields.js';
import { usernamePattern, usernameRule } from '../../shared/input-rules.js';
import { defineConsoleOperation, reason, requiredObject, type Reason } from '../api/console-operation.js';

type Role = 'buyer' | 'seller';

interface Provider {
  kind: 'simulator' | 'h2h' | 'digiflazz' | 'iak';
  base_url: string | null;
  username: string;
  secret: string;
}

interface Body extends Reason {
  username: string;
  role: Role;
  provider: Provider | null;
}

const url = Joi.string()
  .max(500)
  .uri({ scheme: ['http', 'https'] });

const providerBody = Joi.object<Provider>({
  kind: Joi.string().valid('simulator', 'h2h', 'digiflazz', 'iak').required(),
  base_url: url
    .allow(null)
    .default(null)
    .when('kind', { is: 'h2h', then: Joi.invalid(null).required() })
    .description('Required for h2h. For other kinds, null means the default address.'),
  username: text(100).required().description('Our username at the provider.'),
  secret: text(500)
    .required()
    .description('Our secret at the provider. It is stored encrypted and never shown.'),
});

/**
 * Creates an account. Only this response shows its API key. No other operation returns the key to
 * an operator.
 */
export const createAccountCall = defineConsoleOperation<Body>({
  id: 'createAccount',
  method: 'post',
  path: '/accounts',
  action: 'account.create',
  summary: 'Create an account with its wallet and its first API key; only this response shows the key',
  body: Joi.object<Body>({
    username: text(40).pattern(usernamePattern).required().messages({ 'string.pattern.base': usernameRule }),
    role: Joi.string().valid('buyer', 'seller').required(),
    provider: providerBody
      .allow(null)
      .default(null)
      .when('role', { is: 'buyer', then: Joi.valid(null) })
      .description('Sellers: the system that fulfils their sales.'),
    reason,
  }),
  data: requiredObject({
    username: Joi.string(),
    id: Joi.string(),
    role: Joi.string().valid('buyer', 'seller'),
    api_key: Joi.string(),
    webhook_secret: Joi.string(),
  }),
  async handle({ body: { username, role, provider }, by }) {
    const { account, apiKey, webhookSecret } = await createAccount(
      {
        username,
        role,
        ...(provider && {
          provider: {
            kind: provider.kind,
            baseUrl: provider.base_url,
            username: provider.username,
            secret: provider.secret,
          },
        }),
      },
      by,
    );
    return { username, id: account._id, role, api_key: apiKey, webhook_secret: webhookSecret };
  },
});
