/**
 * The failure envelope and its HTTP statuses (docs/reference/errors.md#codes), the same for every
 * operation.
 */
import { fieldReasons, type ResponseCode } from '../../shared/errors.js';
import { reasons, listReasons } from '../contract/failure-reasons.js';
import { addTitle } from './components.js';
import { listExamples, recordedExamples } from './examples.js';
import type { Response, Schema } from './types.js';
import { languages } from '../../shared/messages.js';

interface Failure {
  name: string;
  code: ResponseCode;
  description: string;
}

const failures = {
  400: {
    name: 'Invalid',
    code: '01',
    description: 'A field or parameter is not valid; `errors` names each one.',
  },
  401: {
    name: 'Unauthorized',
    code: '07',
    description: 'The key is missing, unknown or revoked.',
  },
  402: {
    name: 'InsufficientBalance',
    code: '01',
    description: 'The balance is too small. Nothing was bought. Deposit, then send the same request again.',
  },
  403: {
    name: 'Forbidden',
    code: '07',
    description: 'The address is not on the IP allowlist, the account is suspended, or its role is wrong.',
  },
  404: {
    name: 'NotFound',
    code: '02',
    description: 'The product, transaction, bill or other object does not exist or is not yours.',
  },
  405: {
    name: 'MethodNotAllowed',
    code: '01',
    description: 'The method is not allowed. The Allow header lists the allowed methods.',
  },
  409: {
    name: 'Conflict',
    code: '01',
    description: 'The call conflicts with the current state; `message` says how.',
  },
  413: {
    name: 'TooLarge',
    code: '01',
    description: 'The body is larger than 100 kB.',
  },
  415: {
    name: 'WrongContentType',
    code: '01',
    description: 'The body is not JSON.',
  },
  422: {
    name: 'InvalidCustomerNumber',
    code: '04',
    description: 'The customer number is not valid for the product.',
  },
  429: {
    name: 'RateLimited',
    code: '06',
    description: 'Too many calls in a minute. Wait Retry-After seconds.',
  },
  503: {
    name: 'Unavailable',
    code: '03',
    description:
      'The product or its sellers are under maintenance, or the service is recovering. The call took full effect ' +
      'or none. Send the same request with the same ref_id again after Retry-After seconds.',
  },
} as const satisfies Record<number, Failure>;

const codes = [...new Set(Object.values(failures).map(({ code }) => code))].sort();

export type FailureStatus = keyof typeof failures;

/**
 * Failures of every call. 405 belongs to paths: it is the response to methods without an operation.
 */
export const commonFailures: FailureStatus[] = [400, 401, 403, 429, 503];
export const bodyFailures: FailureStatus[] = [413, 415];

/** Returns references to the failure responses of `components`, by HTTP status. */
export function buildFailureReferences(statuses: FailureStatus[]): Record<string, { $ref: string }> {
  return Object.fromEntries(
    [...new Set(statuses)]
      .sort((a, b) => a - b)
      .map((status) => [status, { $ref: `#/components/responses/${failures[status].name}` }]),
  );
}

/** Returns the failure responses for `components`, by name. */
export function buildFailureResponses(): Record<string, Response> {
  return Object.fromEntries(
    Object.entries(failures).map(([status, failure]) => [
      failure.name,
      describeFailure(Number(status), failure),
    ]),
  );
}

/** Header of responses with messages. */
export const contentLanguage = {
  'Content-Language': {
    description: 'Language of `message`.',
    schema: { type: 'string', enum: [...languages] },
  },
};

function describeFailure(status: number, { code, description }: Failure): Response {
  return {
    description: `${description} Code ${code}.`,
    headers: {
      'x-request-id': { schema: { type: 'string' } },
      ...contentLanguage,
      ...([429, 503].includes(status) && {
        'Retry-After': { description: 'Seconds.', schema: { type: 'integer', minimum: 1 } },
      }),
      ...(status === 405 && { Allow: { schema: { type: 'string' } } }),
    },
    content: {
      'application/json': {
        schema: {
          allOf: [
            addTitle('Failure', buildFailureEnvelope({ enum: codes })),
            {
              type: 'object',
              properties: { code: { const: code }, reason: { enum: listReasons(status) } },
            },
          ],
        },
        ...listExamples(recordedExamples.failures[status]),
      },
    },
  };
}

/**
 * Returns the schema of the failure envelope.
 * @param code Schema of the codes that it may have.
 */
export function buildFailureEnvelope(code: Schema): Schema {
  return {
    type: 'object',
    required: ['status', 'code', 'reason', 'message', 'data', 'request_id'],
    additionalProperties: false,
    properties: {
      status: { const: 'error' },
      code,
      reason: {
        title: 'FailureReason',
        type: 'string',
        enum: Object.keys(reasons).filter((each) => each !== 'transaction_failed'),
        description:
          'Stable identifier of the cause. New ones may be added: treat an unknown one by its HTTP status.',
      },
      message: { type: 'string', minLength: 1 },
      data: { type: 'null' },
      data_hint: {
        type: 'object',
        description: 'Only with 402. In rupiah: the balance, and the amount needed.',
        required: ['balance', 'price'],
        additionalProperties: false,
        properties: { balance: { type: 'integer' }, price: { type: 'integer' } },
      },
      errors: {
        type: 'array',
        items: {
          title: 'FieldError',
          type: 'object',
          required: ['field', 'reason', 'message'],
          additionalProperties: false,
          properties: {
            field: { type: 'string' },
            reason: {
              title: 'FieldReason',
              type: 'string',
              enum: Object.keys(fieldReasons),
              description: 'Stable identifier of the problem (/docs/reference/field-reasons).',
            },
            message: { type: 'string' },
          },
        },
      },
      request_id: { type: 'string', description: 'Give it to the operator when you ask for help.' },
    },
  };
}
