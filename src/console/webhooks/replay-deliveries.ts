import Joi from 'joi';
import { replayAsOperator } from '../../webhooks/replay/replay-deliveries.js';
import {
  defineConsoleOperation,
  idParams,
  reasonBody,
  requiredObject,
  type Reason,
  reason,
} from '../api/console-operation.js';
import { refId, text } from '../../api/contract/fields.js';
import { asWritten } from '../../shared/say.js';
import { ValidationError } from '../../shared/errors.js';
import {
  replayIdsMax,
  countDead,
  replayDeadMax,
  deadCountedMax,
  replayDead,
  replayMany,
  type DeadFilter,
} from '../../webhooks/replay/replay-many.js';
import { listQuery, buildPageFilter } from '../api/list-query.js';

export const replayDelivery = defineConsoleOperation<Reason, { id: string }>({
  id: 'replayDelivery',
  method: 'post',
  path: '/deliveries/:id/replay',
  action: 'webhook.replay',
  summary: 'Send one delivery again, to the URL that its account has now',
  params: idParams,
  body: reasonBody,
  data: requiredObject({ id: Joi.string(), state: Joi.string() }),
  async handle({ params: { id }, by }) {
    const replayed = await replayAsOperator(id, by);
    return { id: replayed._id, state: replayed.state };
  },
});

interface ReplayBody extends Reason {
  ids: string[];
}

export const replayDeliveriesCall = defineConsoleOperation<ReplayBody>({
  id: 'replayDeliveries',
  method: 'post',
  path: '/deliveries/replay',
  action: 'webhook.replay',
  summary: 'Send many deliveries again, each to the URL that its account has now; what cannot says why',
  body: Joi.object<ReplayBody>({
    ids: Joi.array().items(text(200)).min(1).max(replayIdsMax).unique().required(),
    reason,
  }),
  data: requiredObject({
    deliveries: Joi.array().items(requiredObject({ id: Joi.string(), refusal: Joi.string().allow(null) })),
  }),
  async handle({ body, by }) {
    const replayed = await replayMany(body.ids, by);
    return { deliveries: replayed.map(({ id, refusal }) => ({ id, refusal: refusal?.message ?? null })) };
  },
});

interface DeadDeliveryFilter {
  account?: string;
  ref_id?: string;
  from?: string;
  to?: string;
}

const { account, from, to } = listQuery;
const deadDeliveryFields = { account, ref_id: refId, from, to };

export const countDeadDeliveries = defineConsoleOperation<unknown, unknown, DeadDeliveryFilter>({
  id: 'countDeadDeliveries',
  method: 'get',
  path: '/deliveries/dead-count',
  action: 'webhook.look',
  summary: 'How many that fit a filter were given up, and how many of them one call sends again',
  query: Joi.object<DeadDeliveryFilter>(deadDeliveryFields),
  data: requiredObject({
    count: Joi.number().description('Counted up to `counted_max`.'),
    counted_max: Joi.number(),
    at_once_max: Joi.number(),
  }),
  async handle({ query }) {
    const count = await countDead(await buildFilter(query));
    return { count, counted_max: deadCountedMax, at_once_max: replayDeadMax };
  },
});

export const replayDeadDeliveries = defineConsoleOperation<DeadDeliveryFilter & Reason>({
  id: 'replayDeadDeliveries',
  method: 'post',
  path: '/deliveries/replay-dead',
  action: 'webhook.replay',
  summary: `Send again what was given up and fits a filter, at most ${replayDeadMax}, the oldest first`,
  body: Joi.object<DeadDeliveryFilter & Reason>({ ...deadDeliveryFields, reason }),
  data: requiredObject({
    replayed: Joi.number(),
    without_url: Joi.number().description('They stay as they are: their URL was removed.'),
  }),
  async handle({ body, by }) {
    return replayDead(await buildFilter(body), by);
  },
});

/**
 * Builds the filter of dead deliveries.
 * @throws ValidationError for other filters without an account, because no index covers them.
 */
async function buildFilter({
  account: username,
  ref_id: wantedRef,
  from: since,
  to,
}: DeadDeliveryFilter): Promise<DeadFilter> {
  if (username === undefined && [wantedRef, since, to].some((each) => each !== undefined)) {
    throw new ValidationError([
      { field: 'account', message: asWritten('account is needed with a filter of ref_id or days') },
    ]);
  }
  const filter = await buildPageFilter({
    ...(username !== undefined && { account: username }),
    ...(since !== undefined && { from: since }),
    ...(to !== undefined && { to }),
  });
  return { ...filter, refId: wantedRef };
}
