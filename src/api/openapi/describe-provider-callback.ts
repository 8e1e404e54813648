import Joi from 'joi';
import { addTitle } from './components.js';
import { bodyFailures, buildFailureReferences } from './failures.js';
import { toJsonSchema } from './json-schema.js';
import type { DescribedOperation } from './types.js';

/**
 * The callback of the reseller protocol that providers send to us. The callback that we send is
 * described as the webhook `callback.reseller`.
 */
const body = Joi.object({
  ref_id: Joi.string()
    .min(1)
    .max(64)
    .required()
    .description('The ref_id of our order.')
    .example('018df5c8a1b27c3d9e4f5a6b7c8d9e0f-1'),
  code: Joi.string().example('S10'),
  customer_number: Joi.string().example('081234561230'),
  status: Joi.string().valid('success', 'failed', 'pending').required(),
  sn: Joi.string().allow(null, '').description('Serial number, for successful transactions.'),
  message: Joi.string().allow(null, ''),
});

/**
 * Describes `POST /api/reseller/callback` (docs/reference/api/callbacks.md#inbound-callbacks). A
 * provider with the reseller protocol, such as another copy of this service, reports the outcome of
 * our order. src/api/providers/callback-routes.ts serves it.
 */
export function describeProviderCallback(): DescribedOperation {
  return {
    operationId: 'receiveResellerCallback',
    tags: ['Provider'],
    summary: 'Report the outcome of an order that we placed with you',
    description:
      'Moves no money. It makes us check the status of the order at once. Only ref_id and status are read.',
    security: [{ providerSignature: [] }],
    parameters: [
      {
        name: 'x-signature',
        in: 'header',
        required: true,
        description: '`sha256=` and hex HMAC-SHA256 of the body; two values while a secret is replaced.',
        schema: { type: 'string' },
      },
    ],
    requestBody: {
      required: true,
      content: {
        'application/json': { schema: addTitle('ResellerCallback', toJsonSchema(body, 'request')) },
      },
    },
    responses: {
      200: {
        description: 'Accepted, or already known.',
        content: {
          'application/json': {
            schema: {
              type: 'object',
              required: ['status'],
              additionalProperties: false,
              properties: { status: { const: 'received' } },
            },
            example: { status: 'received' },
          },
        },
      },
      ...buildFailureReferences([400, 401, 429, 503, ...bodyFailures]),
    },
  };
}
