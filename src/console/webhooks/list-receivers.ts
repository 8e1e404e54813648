import Joi from 'joi';
import { timestamp } from '../../api/fields.js';
import { findUsernames } from '../../accounts/usernames-of.js';
import { lookUp } from '../../shared/look-up.js';
import { redactUrlSecrets } from '../../shared/mask.js';
import { findTroubledReceivers } from '../../webhooks/troubled-receivers.js';
import { defineConsoleOperation, shape } from '../api/console-operation.js';

/** Of each kind. */
const shownMax = 100;

export const listReceivers = defineConsoleOperation({
  id: 'listReceivers',
  method: 'get',
  path: '/receivers',
  action: 'webhook.look',
  summary: 'Receivers to which nothing is sent now: disabled, or left alone because they do not answer',
  data: shape({
    receivers: Joi.array().items(
      shape({
        id: Joi.string(),
        account: Joi.string(),
        address: Joi.string(),
        state: Joi.string().valid('disabled', 'left-alone'),
        failures: Joi.number(),
        failing_since: timestamp.allow(null),
        disabled_at: timestamp.allow(null),
        disabled_because: Joi.string().allow(null),
        open_until: timestamp.allow(null),
      }),
    ),
  }),
  async handle() {
    const found = await findTroubledReceivers(shownMax);
    const usernames = await findUsernames(found.map(({ accountId }) => accountId));
    return {
      receivers: found.map((each) => ({
        id: each._id,
        account: lookUp(usernames, each.accountId) ?? '',
        address: redactUrlSecrets(each.address),
        state: each.disabledAt === null ? 'left-alone' : 'disabled',
        failures: each.failures,
        failing_since: each.failingSince?.toISOString() ?? null,
        disabled_at: each.disabledAt?.toISOString() ?? null,
        disabled_because: each.disabledBecause,
        open_until: each.openUntil?.toISOString() ?? null,
      })),
    };
  },
});
