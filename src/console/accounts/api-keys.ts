import Joi from 'joi';
import { timestamp, text } from '../../api/contract/fields.js';
import { findCurrentKeyId } from '../../accounts/api-key.js';
import { SupersededKeyError } from '../../accounts/authenticate.js';
import { ConflictError } from '../../shared/errors.js';
import { asWritten } from '../../shared/say.js';
import { rotateApiKey, revokeApiKey } from '../../accounts/changes/change-api-keys.js';
import { reason, requiredObject, type Reason } from '../api/console-operation.js';
import { defineAccountChange } from './define-account-change.js';

interface RotateKeyBody extends Reason {
  /** Minutes for which the previous key stays valid. */
  overlap_minutes: number;
}

export const rotateAccountKey = defineAccountChange({
  id: 'newKey',
  verb: 'key',
  action: 'account.key',
  summary: 'Rotate the API key of an account; only this response shows the new key',
  body: Joi.object<RotateKeyBody>({
    overlap_minutes: Joi.number().integer().min(0).max(1_440).required(),
    reason,
  }),
  data: requiredObject({ api_key: Joi.string(), previous_valid_until: timestamp }),
  async run(account, { body, by }) {
    // Rotate only from the current key. With two concurrent rotations, one operator would hand out a
    // key that the other has superseded.
    const keyId = await findCurrentKeyId(account._id);
    const { apiKey, previousValidUntil } = await rotateApiKey(account, body.overlap_minutes, {
      ...by,
      keyId,
    }).catch((error: unknown) => {
      throw error instanceof SupersededKeyError
        ? new ConflictError(
            asWritten('The key of this account was rotated a moment ago. Reload the account.'),
          )
        : error;
    });
    return { api_key: apiKey, previous_valid_until: previousValidUntil.toISOString() };
  },
});

interface RevokeKeyBody extends Reason {
  key_id: string;
}

export const revokeKey = defineAccountChange({
  id: 'revokeKey',
  verb: 'revoke-key',
  action: 'account.key',
  summary: 'Revoke an API key of an account from the next call on, without a replacement',
  body: Joi.object<RevokeKeyBody>({ key_id: text(64).required(), reason }),
  data: requiredObject({
    changed: Joi.boolean(),
    was_current: Joi.boolean().description('True: the account cannot call the API until it has a new key.'),
  }),
  async run(account, { body, by }) {
    const { changed, wasCurrent } = await revokeApiKey(account, body.key_id.trim(), by);
    return { changed, was_current: wasCurrent };
  },
});
