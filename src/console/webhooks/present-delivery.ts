import Joi from 'joi';
import { timestamp } from '../../api/fields.js';
import { withoutUrlSecrets } from '../../shared/mask.js';
import type { Delivery } from '../../webhooks/delivery.model.js';
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
    url: withoutUrlSecrets(delivery.url),
    body: delivery.body,
    state: delivery.state,
    created_at: delivery.createdAt.toISOString(),
    next_attempt_at: delivery.nextAttemptAt?.toISOString() ?? null,
    attempts: delivery.attempts.map(({ n, at, durationMs, httpStatus, answer, error }) => ({
      n,
      at: at.toISOString(),
      duration_ms: Math.round(durationMs),
      http_status: httpStatus,
      answer: shown(answer),
      error: shown(error),
    })),
  };
}

/** What others wrote: receivers and providers often say the URL that was called. */
export function shown(words: string | null): string | null {
  return words === null ? null : withoutUrlSecrets(words);
}
