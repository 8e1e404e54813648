import Joi from 'joi';
import { timestamp } from '../../api/fields.js';
import { currentKeyId } from '../../accounts/current-key.js';
import { SupersededKeyError } from '../../accounts/require-power.js';
import { ConflictError } from '../../shared/errors.js';
import { asWritten } from '../../shared/say.js';
import { rotateApiKey } from '../../webhooks/rotate-api-key.js';
import { reason, shape, type Reason } from '../api/console-operation.js';
import { defineAccountChange } from './account-operation.js';

interface Body extends Reason {
  /** Minutes for which the key before stays valid. */
  overlap_minutes: number;
}

export const newKey = defineAccountChange({
  id: 'newKey',
  verb: 'key',
  action: 'account.key',
  summary: 'Give an account a new API key; this answer alone shows it',
  body: Joi.object<Body>({ overlap_minutes: Joi.number().integer().min(0).max(1_440).required(), reason }),
  data: shape({ api_key: Joi.string(), previous_valid_until: timestamp }),
  async run(account, { body, by }) {
    // As if the current key asked: of two operators at once, one would hand on a key that the other has ended.
    const keyId = await currentKeyId(account._id);
    const { apiKey, previousValidUntil } = await rotateApiKey(account, body.overlap_minutes, {
      ...by,
      keyId,
    }).catch((error: unknown) => {
      throw error instanceof SupersededKeyError
        ? new ConflictError(
            asWritten('Somebody else has just given this account a new key. Look at the account again.'),
          )
        : error;
    });
    return { api_key: apiKey, previous_valid_until: previousValidUntil.toISOString() };
  },
});
