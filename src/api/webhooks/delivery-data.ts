/** A delivery as its account sees it: domain to wire, and the schema of that. */
import Joi from 'joi';
import { nameSchema } from '../named.js';
import { defaultEndpointId } from '../../accounts/webhook-endpoint.js';
import type { Delivery, DeliveryAttempt, DeliveryState } from '../../webhooks/delivery.model.js';
import { isInFlight } from '../../webhooks/list-deliveries.js';
import { redactUrlSecrets } from '../../shared/mask.js';
import { formatIsoTime } from '../../shared/iso-time.js';
import { timestamp } from '../fields.js';

/** On the wire a due row that a worker holds is `delivering`. */
export type DeliveryStatus = DeliveryState | 'delivering';

/** @param zone Of its times; left out: UTC. */
export function presentDelivery(row: Delivery, zone?: string) {
  const status: DeliveryStatus = isInFlight(row) ? 'delivering' : row.state;
  return {
    id: row._id,
    event: row.event,
    ref_id: row.refId,
    endpoint_id: row.channel === 'webhook' ? (row.endpointId ?? defaultEndpointId) : null,
    // The secrets of its query are for whoever may read the configuration.
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
      .description('Whether the answer said {"status":"received"}.'),
    answer: nullableText.description('Its first 4 kB.'),
    error: nullableText.description('What went wrong, in words; null if it was delivered.'),
  }),
);

export const deliveryData = nameSchema(
  'Delivery',
  Joi.object({
    id: Joi.string().required().description('The same in every attempt: the header webhook-id.'),
    event: Joi.string().required().description('The header x-event.'),
    ref_id: nullableText,
    endpoint_id: Joi.string().allow(null).required().description('Null: a callback.'),
    url: Joi.string().required().description('Values of its query are masked.'),
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
