/**
 * Webhooks and callbacks that we send (docs/reference/api/webhooks.md,
 * docs/reference/api/callbacks.md), by the value of the header x-event.
 */
import Joi from 'joi';
import type { DeliveryEvent } from '../../webhooks/deliver/delivery.model.js';
import { timestamp, toPascalCase } from '../contract/fields.js';
import { depositData } from '../contract/resources.js';
import { lookUp } from '../../shared/collections.js';
import { addTitle } from './components.js';
import { recordedExamples } from './examples.js';
import { toJsonSchema } from './json-schema.js';
import type { PathItem } from './types.js';

interface WebhookBody {
  summary: string;
  body: Joi.ObjectSchema;
}

const money = Joi.number().integer().required();
const nullableText = Joi.string().allow(null).required();

function buildEnvelopeSchema(event: string, data: Joi.ObjectSchema): Joi.ObjectSchema {
  return Joi.object({
    event: Joi.string().valid(event).required(),
    data: data.required(),
    timestamp: timestamp.required(),
  });
}

function buildPurchaseEventSchema(event: 'pending' | 'success' | 'failed'): Joi.ObjectSchema {
  return buildEnvelopeSchema(
    `transaction.${event}`,
    Joi.object({
      ref_id: Joi.string().required().example('order-20240301-0001'),
      transaction_id: Joi.string().required().example('018df5c8a1b27c3d9e4f5a6b7c8d9e0f'),
      code: Joi.string().required().example('S10'),
      customer_number: Joi.string().required().example('081234561230'),
      status: Joi.string().valid(event).required(),
      sn: nullableText,
      price: money.example(10_500),
      timestamp: timestamp.required(),
      message: Joi.string().description('Description of the outcome.'),
    }),
  );
}

const settlement = {
  settlement_id: Joi.string().required(),
  ref_id: nullableText,
  amount: money,
  fee: money,
  net_amount: money,
  bank_account: Joi.object({
    bank_code: Joi.string().required(),
    account_number: Joi.string().required().description('Masked except for the last four digits.'),
    account_name: Joi.string().required(),
  }).required(),
};

export const webhookBodies: Record<DeliveryEvent, WebhookBody> = {
  'transaction.pending': {
    summary: 'A purchase takes longer than usual',
    body: buildPurchaseEventSchema('pending'),
  },
  'transaction.success': { summary: 'A purchase succeeded', body: buildPurchaseEventSchema('success') },
  'transaction.failed': {
    summary: 'A purchase failed or was reversed; its price was returned to the wallet',
    body: buildPurchaseEventSchema('failed'),
  },
  'settlement.completed': {
    summary: 'A settlement was paid out',
    body: buildEnvelopeSchema(
      'settlement.completed',
      Joi.object({
        ...settlement,
        status: Joi.string().valid('completed').required(),
        completed_at: timestamp.required(),
      }),
    ),
  },
  'settlement.failed': {
    summary: 'A settlement failed; the whole amount was returned to the balance',
    body: buildEnvelopeSchema(
      'settlement.failed',
      Joi.object({
        ...settlement,
        status: Joi.string().valid('failed').required(),
        reason: Joi.string().required(),
      }),
    ),
  },
  'deposit.completed': {
    summary: 'A pending deposit was credited',
    body: buildEnvelopeSchema('deposit.completed', depositData),
  },
  'config.updated': {
    summary: 'The API configuration changed; sent to the endpoints as they were before the change',
    body: buildEnvelopeSchema(
      'config.updated',
      Joi.object({ changed: Joi.array().items(Joi.string()).required().description('Names of the fields.') }),
    ),
  },
  'webhook.disabled': {
    summary: 'One of your URLs was disabled; sent to the other endpoints',
    body: buildEnvelopeSchema(
      'webhook.disabled',
      Joi.object({
        endpoint_id: Joi.string().allow(null).required().description('Null: the callback_url.'),
        url: Joi.string().required().description('Query values are masked.'),
        reason: Joi.string()
          .valid('failing', 'gone')
          .required()
          .description('failing: no success for 120 hours. gone: it returned 410.'),
        since: timestamp.required(),
        action: Joi.string().required().description('What to do next.'),
      }),
    ),
  },
  ping: {
    summary: 'A test that you requested',
    body: buildEnvelopeSchema('ping', Joi.object({ message: Joi.string().required() })),
  },
  'callback.wallet': {
    summary: 'A purchase made through /v1 is final (sent to callback_url)',
    body: Joi.object({
      code: Joi.string().required().description('Our transaction id.'),
      ref_id: Joi.string().required(),
      status: Joi.string().valid('SUCCESS', 'FAILED', 'REFUNDED').required(),
      serial_number: nullableText,
      price: money,
      message: Joi.string().required(),
    }),
  },
  'callback.reseller': {
    summary:
      'To callback_url (/api/reseller/callback if the receiver is a copy of this service): a purchase of ' +
      '/api/reseller is final; to a seller: a sale is final',
    body: Joi.object({
      ref_id: Joi.string()
        .required()
        .description("For a seller: our transaction id. For a buyer: the buyer's ref_id."),
      code: Joi.string().required(),
      customer_number: Joi.string().required().description('Masked for a seller.'),
      status: Joi.string().valid('success', 'failed').required(),
      sn: nullableText,
      message: Joi.string().required(),
    }),
  },
};

type EventWebhookBody = (typeof webhookBodies)[keyof typeof webhookBodies];

const headers: [string, string][] = [
  ['webhook-id', 'The same in every attempt. Store it to detect repetitions.'],
  ['webhook-timestamp', 'Unix seconds, new in every attempt. Refuse messages older than five minutes.'],
  [
    'webhook-signature',
    '`v1,` and base64 HMAC-SHA256 of `id.timestamp.body`; two values while a secret is replaced.',
  ],
  ['x-signature', '`sha256=` and hex HMAC-SHA256 of the body alone.'],
  ['x-event', 'Name of the event.'],
  ['x-api-version', 'Version of the body, the same in every attempt.'],
  ['x-attempt', 'Number of the attempt, from 1.'],
];

/**
 * Returns the description of all webhooks in the OpenAPI document.
 * @param addresses Source addresses of our requests, as in OUTGOING_ADDRESSES.
 */
export function describeWebhooks(addresses: string[]): string {
  const origin = addresses.length === 0 ? '' : ` Requests come from ${addresses.join(', ')}.`;
  return `Requests that we send to your server.${origin}`;
}

/** Describes a webhook or callback for the OpenAPI document. */
export function describeWebhook(event: string, { summary, body }: EventWebhookBody): PathItem {
  const example = lookUp(recordedExamples.webhooks, event);
  return {
    post: {
      operationId: event.replace(/\W(\w)/g, (_match, letter: string) => letter.toUpperCase()),
      tags: ['Webhooks'],
      summary,
      security: [],
      parameters: headers.map(([name, description]) => ({
        name,
        in: 'header',
        required: true,
        description,
        schema: { type: 'string' },
      })),
      requestBody: {
        required: true,
        content: {
          'application/json': {
            schema: addTitle(
              `${toPascalCase(event)}${event.startsWith('callback.') ? '' : 'Event'}`,
              toJsonSchema(body, 'response'),
            ),
            ...(example !== undefined && { example }),
          },
        },
      },
      responses: {
        200: {
          description: 'Return any 2xx within 15 s. With a `status` other than received, we send it again.',
          content: {
            'application/json': {
              schema: addTitle('Received', { type: 'object', properties: { status: { const: 'received' } } }),
              example: { status: 'received' },
            },
          },
        },
      },
    },
  };
}
