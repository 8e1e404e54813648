import Joi from 'joi';
import { nameSchema } from '../contract/fields.js';
import { limits } from '../../../config/limits.js';
import { sealAccessToken } from '../../accounts/access-token.js';
import { getRateLimit } from '../../accounts/effective-settings.js';
import { nowMs } from '../../shared/clock.js';
import { defineOperation } from '../contract/operation.js';

export const login = defineOperation({
  id: 'login',
  method: 'post',
  needs: 'trade',
  path: '/v1/auth/login',
  role: 'buyer',
  tag: 'Wallet',
  summary: 'Get an access token for the API key',
  description:
    'The token replaces the key for an hour, and ends with its key. A login with a token returns a new token ' +
    'that expires with the first one.',
  data: nameSchema(
    'Login',
    Joi.object({
      access_token: Joi.string().required(),
      token_type: Joi.string().valid('Bearer').required(),
      expires_in: Joi.number().required().description('Seconds.').example(3_600),
      account: Joi.object({
        username: Joi.string().required(),
        role: Joi.string().valid('buyer').required(),
        is_active: Joi.boolean().required(),
        rate_limit: Joi.number().required(),
      }).required(),
    }),
  ),
  handle({ account, keyId, validUntil }) {
    const at = nowMs();
    const endsAt = Math.min(at + limits.accessTokenMs, validUntil?.getTime() ?? Infinity);
    return Promise.resolve({
      data: {
        access_token: sealAccessToken({ keyId, validUntil: new Date(endsAt) }),
        token_type: 'Bearer',
        expires_in: Math.floor((endsAt - at) / 1_000),
        account: {
          username: account.username,
          role: account.role,
          is_active: account.status === 'active',
          rate_limit: getRateLimit(account),
        },
      },
    });
  },
});
