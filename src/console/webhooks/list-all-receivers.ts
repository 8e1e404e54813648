import Joi from 'joi';
import { text, timestamp } from '../../api/fields.js';
import { requireAccount } from '../../accounts/require-account.js';
import { redactUrlSecrets } from '../../shared/mask.js';
import { findReceivers, receiverStates } from '../../webhooks/list-receivers.js';
import { defineConsoleOperation, shape } from '../api/console-operation.js';

interface Query {
  account?: string;
  receivers_after?: string;
}

/** Accounts of one page; each has a few receivers. */
const accountsMax = 25;

export const listAllReceivers = defineConsoleOperation<unknown, unknown, Query>({
  id: 'listAllReceivers',
  method: 'get',
  path: '/receivers/all',
  action: 'webhook.look',
  summary: 'Every webhook and callback URL with its health, by pages of accounts, the worst of a page first',
  query: Joi.object<Query>({ account: text(64), receivers_after: text(64) }),
  data: shape({
    receivers: Joi.array().items(
      shape({
        id: Joi.string(),
        account: Joi.string(),
        address: Joi.string(),
        state: Joi.string().valid(...receiverStates),
        failures: Joi.number().description('Since the last success.'),
        failing_since: timestamp.allow(null),
      }),
    ),
    next: Joi.string().allow(null).description('The `receivers_after` of the next page.'),
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
