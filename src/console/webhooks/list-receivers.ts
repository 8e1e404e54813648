import Joi from 'joi';
import { timestamp, text, nameSchema } from '../../api/contract/fields.js';
import { findUsernames, requireAccount } from '../../accounts/find-account.js';
import { lookUp } from '../../shared/collections.js';
import { redactUrlSecrets } from '../../shared/mask.js';
import {
  findTroubledReceivers,
  findReceivers,
  receiverStates,
} from '../../webhooks/receivers/list-receivers.js';
import { defineConsoleOperation, requiredObject } from '../api/console-operation.js';

/** Maximum number of receivers shown per state. */
const shownMax = 100;

export const listReceivers = defineConsoleOperation({
  id: 'listReceivers',
  method: 'get',
  path: '/receivers',
  action: 'webhook.look',
  summary: 'Receivers to which nothing is sent now: disabled, or paused because they do not respond',
  data: requiredObject({
    receivers: Joi.array().items(
      nameSchema(
        'WebhookReceiver',
        requiredObject({
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

interface Query {
  account?: string;
  receivers_after?: string;
}

/** Number of accounts per page. Each account has a few receivers. */
const accountsMax = 25;

export const listAllReceivers = defineConsoleOperation<unknown, unknown, Query>({
  id: 'listAllReceivers',
  method: 'get',
  path: '/receivers/all',
  action: 'webhook.look',
  summary: 'Every webhook and callback URL with its health, by pages of accounts, the worst first',
  query: Joi.object<Query>({ account: text(64), receivers_after: text(64) }),
  data: requiredObject({
    receivers: Joi.array().items(
      requiredObject({
        id: Joi.string(),
        account: Joi.string(),
        address: Joi.string(),
        state: Joi.string().valid(...receiverStates),
        failures: Joi.number().description('Since the last success.'),
        failing_since: timestamp.allow(null),
      }),
    ),
    next: Joi.string().allow(null).description('Value of `receivers_after` for the next page.'),
  }),
  async handle({ query: { account, receivers_after: after } }) {
    const accountId = account === undefined ? undefined : (await requireAccount(account))._id;
    const { found, next } = await findReceivers({ after, accountId, accountsMax });
    return {
      receivers: found.map(({ id, username, url, state, health }) => ({
        id,
        account: username,
        state,
        address: redactUrlSecrets(url),
        failures: health?.failures ?? 0,
        failing_since: health?.failingSince?.toISOString() ?? null,
      })),
      next,
    };
  },
});
