import { lookUp } from '../../shared/look-up.js';
import { toPascalCase } from '../pascal.js';
import { addTitle } from './components.js';
import { recordedExamples } from './examples.js';
import { toJsonSchema } from './json-schema.js';
import type { PathItem } from './types.js';
import type { webhookBodies } from './webhook-bodies.js';

type EventWebhookBody = (typeof webhookBodies)[keyof typeof webhookBodies];

const headers: [string, string][] = [
  ['webhook-id', 'The same in every attempt: store it to recognise repetitions.'],
  ['webhook-timestamp', 'Seconds, new in every attempt. Refuse what is older than five minutes.'],
  [
    'webhook-signature',
    '`v1,` and base64 HMAC-SHA256 of `id.timestamp.body`; two values while a secret is replaced.',
  ],
  ['x-signature', '`sha256=` and hex HMAC-SHA256 of the body alone.'],
  ['x-event', 'What it is.'],
  ['x-api-version', 'Version of the body, the same in every attempt.'],
  ['x-attempt', 'Number of the attempt, from 1.'],
];

/** What the OpenAPI document says of all of them. @param addresses As OUTGOING_ADDRESSES. */
export function describeWebhooks(addresses: string[]): string {
  const origin = addresses.length === 0 ? '' : ` It comes from ${addresses.join(', ')}.`;
  return `What we send to your server.${origin}`;
}

/** A webhook or callback as the OpenAPI document has it. */
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
          description: 'Answer any 2xx within 15 s. Another `status` than received means: send it again.',
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
