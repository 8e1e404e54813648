/** Operations on deliveries, and the response form of a delivery. */
import Joi from 'joi';
import {
  nameSchema,
  timestamp,
  caseInsensitive,
  pagination,
  refId,
  tz,
  wholeNumber,
  text,
  isoDay,
} from '../contract/fields.js';
import { defaultEndpointId } from '../../accounts/webhook-endpoint.js';
import type {
  Delivery,
  DeliveryAttempt,
  DeliveryState,
  DeliveryEvent,
} from '../../webhooks/deliver/delivery.model.js';
import { isInFlight, listDeliveries } from '../../webhooks/deliver/stored-deliveries.js';
import { redactUrlSecrets } from '../../shared/mask.js';
import { formatIsoTime, getStartOfDay } from '../../shared/business-time.js';
import { limits } from '../../../config/limits.js';
import type { Role } from '../../accounts/account.model.js';
import { defineOperation, type AnyOperation, buildRoleFields, getChangedBy } from '../contract/operation.js';
import { endpointId } from './endpoint-data.js';
import {
  replayDelivery,
  replayDeliveries,
  type ReplayableState,
} from '../../webhooks/replay/replay-deliveries.js';

/** Adds `delivering` for a due row whose lease a worker holds. Only responses have this status. */
export type DeliveryStatus = DeliveryState | 'delivering';

/**
 * Converts a delivery to its response form.
 * @param zone Time zone of its times. Default UTC.
 */
export function presentDelivery(row: Delivery, zone?: string) {
  const status: DeliveryStatus = isInFlight(row) ? 'delivering' : row.state;
  return {
    id: row._id,
    event: row.event,
    ref_id: row.refId,
    endpoint_id: row.channel === 'webhook' ? (row.endpointId ?? defaultEndpointId) : null,
    // Only callers that may read the configuration may see secrets in the query.
    url: redactUrlSecrets(row.url),
    status,
    attempt_count: row.attemptCount,
    next_attempt_at: status === 'due' ? timeOrNull(row.nextAttemptAt, zone) : null,
    created_at: formatIsoTime(row.createdAt, zone),
    attempts: row.attempts.map((each) => presentAttempt(each, zone)),
    payload: JSON.parse(row.body) as unknown,
  };
}

const timeOrNull = (at: Date | null, zone?: string) => (at === null ? null : formatIsoTime(at, zone));

export function presentAttempt(attempt: DeliveryAttempt, zone?: string) {
  return {
    number: attempt.n,
    at: formatIsoTime(attempt.at, zone),
    http_status: attempt.httpStatus,
    duration_ms: attempt.durationMs,
    ack: attempt.ack,
    answer: attempt.answer,
    error: attempt.error,
  };
}

const nullableText = Joi.string().allow(null, '').required();

export const attemptData = nameSchema(
  'DeliveryAttempt',
  Joi.object({
    number: Joi.number().required(),
    at: timestamp.required(),
    http_status: Joi.number().allow(null).required(),
    duration_ms: Joi.number().required(),
    ack: Joi.string()
      .valid('received', 'missing', 'negative', null)
      .required()
      .description('Whether the response was {"status":"received"}.'),
    answer: nullableText.description('The first 4 kB of the response.'),
    error: nullableText.description('Description of the error; null if it was delivered.'),
  }),
);

export const deliveryData = nameSchema(
  'Delivery',
  Joi.object({
    id: Joi.string().required().description('The header webhook-id, the same in every attempt.'),
    event: Joi.string().required().description('The header x-event.'),
    ref_id: nullableText,
    endpoint_id: Joi.string().allow(null).required().description('Null for a callback.'),
    url: Joi.string().required().description('Query values are masked.'),
    status: Joi.string()
      .valid('due', 'delivering', 'delivered', 'dead', 'held', 'dropped')
      .required()
      .description(
        'dead: given up after the last attempt. held: the URL is disabled or not allowed. ' +
          'dropped: a newer event of the same transaction replaced it, or its endpoint was removed.',
      ),
    attempt_count: Joi.number().required(),
    next_attempt_at: timestamp.allow(null).required(),
    created_at: timestamp.required(),
    attempts: Joi.array().items(attemptData).required(),
    payload: Joi.object().unknown().required(),
  }),
);

interface Query {
  status?: DeliveryState;
  event?: DeliveryEvent;
  ref_id?: string;
  endpoint_id?: string;
  page: number;
  limit: number;
  tz?: string;
}

const query = Joi.object<Query>({
  status: caseInsensitive(['due', 'delivered', 'dead', 'held', 'dropped']),
  event: caseInsensitive([
    'transaction.pending',
    'transaction.success',
    'transaction.failed',
    'settlement.completed',
    'settlement.failed',
    'deposit.completed',
    'config.updated',
    'webhook.disabled',
    'ping',
    'callback.wallet',
    'callback.reseller',
  ]),
  ref_id: refId,
  endpoint_id: endpointId,
  page: wholeNumber({ max: 1_000_000, standard: limits.pageDefault }),
  limit: wholeNumber({ max: limits.pageSizeMax, standard: limits.pageSizeDefault }),
  tz,
});

export function listDeliveriesFor(role: Role): AnyOperation {
  return defineOperation<unknown, unknown, Query>({
    ...buildRoleFields(role, { name: (who) => `list${who}Deliveries`, path: '/webhooks/deliveries' }),
    method: 'get',
    needs: 'trade',
    summary: 'Webhooks and callbacks with every attempt, newest first',
    description: 'Each attempt shows the HTTP status, the start of the response and the error.',
    query,
    data: Joi.object({
      deliveries: Joi.array().items(deliveryData).required(),
      pagination: pagination.required(),
    }),
    async handle({ account, query: { status, event, ref_id, endpoint_id, page, limit, tz: zone } }) {
      const { rows, total } = await listDeliveries({
        accountId: account._id,
        state: status?.toLowerCase() as DeliveryState | undefined,
        event: event?.toLowerCase() as DeliveryEvent | undefined,
        refId: ref_id,
        endpointId: endpoint_id,
        page,
        limit,
      });
      return {
        data: {
          deliveries: rows.map((row) => presentDelivery(row, zone)),
          pagination: { page, limit, total, total_pages: Math.ceil(total / limit) },
        },
      };
    },
  });
}

interface Params {
  id: string;
}

export function replayDeliveryFor(role: Role): AnyOperation {
  return defineOperation<unknown, Params>({
    ...buildRoleFields(role, {
      name: (who) => `replay${who}Delivery`,
      path: '/webhooks/deliveries/:id/replay',
    }),
    method: 'post',
    needs: 'trade',
    summary: 'Send one webhook or callback again',
    description: 'It is sent to the current URL at once, with a new schedule of retries.',
    params: Joi.object<Params>({ id: text(100).required() }),
    data: deliveryData,
    failures: [404, 409],
    async handle(call) {
      return {
        data: presentDelivery(await replayDelivery(call.account, call.params.id, getChangedBy(call))),
      };
    },
  });
}

interface Body {
  since: string;
  status: ReplayableState;
  endpoint_id?: string;
}

export function replayDeliveriesFor(role: Role): AnyOperation {
  return defineOperation<Body>({
    ...buildRoleFields(role, { name: (who) => `replay${who}Deliveries`, path: '/webhooks/replay' }),
    method: 'post',
    needs: 'trade',
    summary: 'Send all deliveries of one status again',
    description: 'After an outage: deliveries that were given up (dead), or held while the URL was disabled.',
    body: Joi.object<Body>({
      since: isoDay.required().description('Earliest creation time, or day in business time.'),
      status: caseInsensitive(['delivered', 'dead', 'held']).required(),
      endpoint_id: endpointId,
    }),
    data: Joi.object({ replayed: Joi.number().required() }),
    failures: [404],
    async handle(call) {
      const { account, body } = call;
      const which = {
        since: getStartOfDay(body.since),
        state: body.status.toLowerCase() as ReplayableState,
        endpointId: body.endpoint_id,
      };
      return { data: { replayed: await replayDeliveries(account, which, getChangedBy(call)) } };
    },
  });
}
