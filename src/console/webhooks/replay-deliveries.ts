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
  summary: 'Replay one delivery to the current URL of its account',
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
  summary:
    'Replay many deliveries, each to the current URL of its account; each that is refused has a reason',
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
  summary: 'Number of dead deliveries that match a filter, and how many of them one call replays',
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
  summary: `Replay dead deliveries that match a filter, at most ${replayDeadMax}, oldest first`,
  body: Joi.object<DeadDeliveryFilter & Reason>({ ...deadDeliveryFields, reason }),
  data: requiredObject({
    replayed: Joi.number(),
    without_url: Joi.number().description(
      'Dead deliveries that are not replayed because their URL was removed.',
    ),
  }),
  async handle({ body, by }) {
    return replayDead(await buildFilter(body), by);
  },
});

/**
 * Builds the filter of dead deliveries.
 * @throws ValidationError if another filter is set but no account, because no index covers such a
 * query.
 */
async function buildFilter({
  account: username,
  ref_id: wantedRef,
  from: since,
  to,
}: DeadDeliveryFilter): Promise<DeadFilter> {
  if (username === undefined && [wantedRef, since, to].some((each) => each !== undefined)) {
    throw new ValidationError([
      { field: 'account', message: asWritten('account is required with a filter of ref_id or days') },
    ]);
  }
  const filter = await buildPageFilter({
    ...(username !== undefined && { account: username }),
    ...(since !== undefined && { from: since }),
    ...(to !== undefined && { to }),
  });
  return { ...filter, refId: wantedRef };
}
