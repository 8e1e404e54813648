import Joi from 'joi';
import { limits } from '../../../config/limits.js';
import type { Role } from '../../accounts/account.model.js';
import { rotateApiKey } from '../../accounts/changes/change-api-keys.js';
import { getChangedBy, defineOperation, type AnyOperation, buildRoleFields } from '../contract/operation.js';
import { timestamp } from '../contract/fields.js';
import { say } from '../../shared/say.js';

interface Body {
  overlap_minutes: number;
}

export function rotateKeyFor(role: Role): AnyOperation {
  return defineOperation<Body>({
    ...buildRoleFields(role, { name: (who) => `rotate${who}Key`, path: '/api/keys/rotate' }),
    method: 'post',
    summary: 'Replace the API key',
    description:
      'The key of this call stays valid for `overlap_minutes`. After a leak, send 0: all older keys, ' +
      'the access tokens issued with them, and all download links of reports then stop working at once.',
    body: Joi.object<Body>({
      overlap_minutes: Joi.number()
        .integer()
        .min(0)
        .max(limits.keyOverlapMinutesMax)
        .default(limits.keyOverlapMinutesDefault),
    }),
    data: Joi.object({
      api_key: Joi.string().required(),
      previous_valid_until: timestamp.required(),
    }),
    async handle(call) {
      const { apiKey, previousValidUntil } = await rotateApiKey(
        call.account,
        call.body.overlap_minutes,
        getChangedBy(call),
      );
      return {
        message: say('keyReplaced'),
        data: { api_key: apiKey, previous_valid_until: previousValidUntil.toISOString() },
      };
    },
  });
}
