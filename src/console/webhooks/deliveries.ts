import Joi from 'joi';
import { timestamp, refId, nameSchema } from '../../api/contract/fields.js';
import { redactUrlSecrets } from '../../shared/mask.js';
import {
  type Delivery,
  type DeliveryAttempt,
  deliveries,
  type DeliveryState,
} from '../../webhooks/deliver/delivery.model.js';
import { buildAttemptHeaders } from '../../webhooks/deliver/sign-delivery.js';
import { requiredObject, defineConsoleOperation } from '../api/console-operation.js';
import { findUsernames } from '../../accounts/find-account.js';
import { findDocumentPage, type DocumentPage } from '../../database/document-page.js';
import { ValidationError } from '../../shared/errors.js';
import { asWritten } from '../../shared/say.js';
import { lookUp } from '../../shared/collections.js';
import { listDeadDeliveries } from '../../webhooks/deliver/stored-deliveries.js';
import { listQuery, pageFields, buildPageFilter, type ListQuery } from '../api/list-query.js';

const nullableText = Joi.string().allow(null);

export const deliveryStates = ['due', 'delivered', 'dead', 'held', 'dropped'] as const;

export const deliveryData = nameSchema(
  'WebhookDelivery',
  requiredObject({
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
      requiredObject({
        n: Joi.number(),
        at: timestamp,
        duration_ms: Joi.number(),
        http_status: Joi.number().allow(null),
        answer: nullableText,
        error: nullableText,
        headers: Joi.array()
          .items(requiredObject({ name: Joi.string(), value: Joi.string() }))
          .allow(null)
          .description(
            'As they were sent, with shortened signatures. Null: nothing was sent, or they were not stored.',
          ),
      }),
    ),
  }),
);

/**
 * Presents a delivery with its attempts.
 * @param account Username of its account.
 */
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

/**
 * Redacts secrets in URLs. Receivers and providers often repeat the called URL in their messages.
 */
export function redactUrls(words: string | null): string | null {
  return words === null ? null : redactUrlSecrets(words);
}

interface Query extends ListQuery {
  state?: DeliveryState;
  ref_id?: string;
}

export const listDeliveries = defineConsoleOperation<unknown, unknown, Query>({
  id: 'listDeliveries',
  method: 'get',
  path: '/deliveries',
  action: 'webhook.look',
  summary: 'Webhooks and callbacks of an account, newest first; without an account, all dead deliveries',
  query: Joi.object<Query>({
    state: Joi.string().valid(...deliveryStates),
    ref_id: refId,
    ...listQuery,
  }),
  data: requiredObject({ deliveries: Joi.array().items(deliveryData), ...pageFields }),
  async handle({ query }) {
    const { found, next, searchedBackTo } = await findPage(query);
    const usernames = await findUsernames(found.map(({ accountId }) => accountId));
    return {
      deliveries: found.map((each) => presentDelivery(each, lookUp(usernames, each.accountId) ?? '')),
      next,
      looked_back_to: searchedBackTo?.toISOString() ?? null,
    };
  },
});

async function findPage(query: Query): Promise<DocumentPage<Delivery>> {
  const { state, ref_id: wantedRef, after, limit } = query;
  const { accountId, since, until } = await buildPageFilter(query);
  if (accountId === undefined) {
    if ([since, until, wantedRef, after].some((each) => each !== undefined) || (state ?? 'dead') !== 'dead') {
      const message = 'account is required with a filter: without an account only dead deliveries are listed';
      throw new ValidationError([{ field: 'account', message: asWritten(message) }]);
    }
    return { found: await listDeadDeliveries(limit), next: null, searchedBackTo: null };
  }
  const also = { ...(state && { state }), ...(wantedRef !== undefined && { refId: wantedRef }) };
  return findDocumentPage(deliveries, { accountId, since, until, also }, { after, limit });
}
