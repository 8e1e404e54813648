import Joi from 'joi';
import { text } from '../../api/fields.js';
import { revokeApiKey } from '../../webhooks/revoke-api-key.js';
import { reason, shape, type Reason } from '../api/console-operation.js';
import { defineAccountChange } from './account-operation.js';

interface Body extends Reason {
  key_id: string;
}

export const revokeKey = defineAccountChange({
  id: 'revokeKey',
  verb: 'revoke-key',
  action: 'account.key',
  summary: 'End an API key of an account from the next call on, without a new one in its place',
  body: Joi.object<Body>({ key_id: text(64).required(), reason }),
  data: shape({
    changed: Joi.boolean(),
    was_current: Joi.boolean().description('The account can do nothing until it has a new key.'),
  }),
  async run(account, { body, by }) {
    const { changed, wasCurrent } = await revokeApiKey(account, body.key_id.trim(), by);
    return { changed, was_current: wasCurrent };
  },
});
