import Joi from 'joi';
import { timestamp } from '../../api/fields.js';
import { redactUrlSecrets } from '../../shared/mask.js';
import type { Delivery, DeliveryAttempt } from '../../webhooks/delivery.model.js';
import { buildAttemptHeaders } from '../../webhooks/sign-delivery.js';
import { shape } from '../api/console-operation.js';

const nullableText = Joi.string().allow(null);

export const deliveryStates = ['due', 'delivered', 'dead', 'held', 'dropped'] as const;

export const deliveryData = shape({
  id: Joi.string(),
  account: Joi.string(),
  event: Joi.string(),
  ref_id: nullableText,
  transaction_id: nullableText,
  url: Joi.string(),
  body: Joi.string(),
  state: Joi.string().valid(...deliveryStates),
  created_at: timestamp,
  next_attempt_at: timestamp.allow(null),
  attempts: Joi.array().items(
    shape({
      n: Joi.number(),
      at: timestamp,
      duration_ms: Joi.number(),
      http_status: Joi.number().allow(null),
      answer: nullableText,
      error: nullableText,
      headers: Joi.array()
        .items(shape({ name: Joi.string(), value: Joi.string() }))
        .allow(null)
        .description(
          'As they were sent, signatures cut short. Null: nothing was sent, or they were not kept.',
        ),
    }),
  ),
});

/** @param account Its username. */
export function presentDelivery(delivery: Delivery, account: string) {
  return {
    id: delivery._id,
    account,
    event: delivery.event,
    ref_id: delivery.refId,
    transaction_id: delivery.orderKey,
    url: redactUrlSecrets(delivery.url),
    body: delivery.body,
    state: delivery.state,
    created_at: delivery.createdAt.toISOString(),
    next_attempt_at: delivery.nextAttemptAt?.toISOString() ?? null,
    attempts: delivery.attempts.map(({ n, at, durationMs, httpStatus, answer, error, sent }) => ({
      n,
      at: at.toISOString(),
      duration_ms: Math.round(durationMs),
      http_status: httpStatus,
      answer: redactUrls(answer),
      error: redactUrls(error),
      headers: presentHeaders(delivery, { n, sent }),
    })),
  };
}

function presentHeaders(delivery: Delivery, attempt: { n: number; sent: DeliveryAttempt['sent'] }) {
  const headers = buildAttemptHeaders(delivery, {
    n: attempt.n,
    ...(attempt.sent && { sent: attempt.sent }),
  });
  return headers && Object.entries(headers).map(([name, value]) => ({ name, value }));
}

/** What others wrote: receivers and providers often say the URL that was called. */
export function redactUrls(words: string | null): string | null {
  return words === null ? null : redactUrlSecrets(words);
}
