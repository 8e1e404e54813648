import { lookUp } from '../../shared/collections.js';
import type Joi from 'joi';
import { getRequiredPermission, type AnyOperation } from '../contract/operation.js';
import { toPascalCase } from '../contract/fields.js';
import { addTitle } from './components.js';
import { listExamples, recordedExamples } from './examples.js';
import { contentLanguage, bodyFailures, commonFailures, buildFailureReferences } from './failures.js';
import { toJsonSchema } from './json-schema.js';
import type { DescribedOperation, Parameter, RequestBody, Response, Schema } from './types.js';

/** Describes an operation for the OpenAPI document. */
export function describeOperation(operation: AnyOperation): DescribedOperation {
  const { body } = operation;
  return {
    operationId: operation.id,
    tags: [operation.tag],
    summary: operation.summary,
    ...buildDescription(operation),
    security: [{ apiKey: [] }, ...(operation.takesToken ? [{ downloadToken: [] }] : [])],
    parameters: [
      ...describeParameters(operation.params, 'path'),
      ...describeParameters(operation.query, 'query'),
      ...(operation.takesToken ? [downloadToken] : []),
      ...(operation.conditional ? [ifNoneMatch] : []),
      acceptLanguage,
    ],
    ...(body && {
      requestBody: describeRequestBody(operation.id, body),
    }),
    responses: {
      ...Object.fromEntries(
        (operation.successStatuses ?? [200]).map((status) => [status, describeSuccess(operation, status)]),
      ),
      ...(operation.conditional && { 304: notModified }),
      ...buildFailureReferences([
        ...commonFailures,
        ...(operation.method === 'get' ? [] : bodyFailures),
        ...(operation.failures ?? []),
      ]),
    },
  };
}

/** Adds the required credential to the description. */
function buildDescription(operation: AnyOperation): { description?: string } {
  const sentences = [
    ...(operation.description === undefined ? [] : [operation.description]),
    ...(getRequiredPermission(operation) === 'own'
      ? ['Requires the current API key: an access token or a replaced key is refused (403/07).']
      : []),
  ];
  return sentences.length === 0 ? {} : { description: sentences.join(' ') };
}

/**
 * The route in reports/downloads.ts handles calls with a token, so they never reach the operation.
 */
const downloadToken: Parameter = {
  name: 'token',
  in: 'query',
  required: false,
  description: 'The token in `download_url`. Replaces the API key.',
  schema: { type: 'string' },
};

/**
 * Header of every call except those of the reseller surface, which uses the account's `language`
 * setting.
 */
const acceptLanguage: Parameter = {
  name: 'Accept-Language',
  in: 'header',
  required: false,
  description:
    'Language of `message` and `errors[].message`: en (the default) or id, by weights as in RFC 9110. It affects nothing else.',
  schema: { type: 'string' },
  example: 'id-ID,id;q=0.9,en;q=0.8',
};

/** Header of lists that clients poll. */
const ifNoneMatch: Parameter = {
  name: 'If-None-Match',
  in: 'header',
  required: false,
  description: '`ETag` of your stored response. If it is still current, the response is 304 without a body.',
  schema: { type: 'string' },
  example: 'W/"2jmj7l5rSw0yVb_vlWAYkK_YBwk"',
};

const etag = {
  ETag: {
    description: 'Version of this response. Send it back in `If-None-Match`.',
    schema: { type: 'string' },
  },
};

const notModified: Response = {
  description: 'Your stored response is still current.',
  headers: { 'x-request-id': { schema: { type: 'string' } }, ...etag },
  content: {},
};

/** Describes path or query parameters. All their values are text. */
export function describeParameters(
  schema: Joi.ObjectSchema | undefined,
  where: 'path' | 'query',
): Parameter[] {
  if (!schema) {
    return [];
  }
  const { properties = {}, required = [] } = toJsonSchema(schema, 'request');
  return Object.entries(properties).map(([name, each]) => {
    const { description, examples, ...rest } = each;
    return {
      name,
      in: where,
      required: required.includes(name),
      ...(description !== undefined && { description }),
      schema: { ...rest, ...(examples && { examples }) },
      ...(examples && { example: examples[0] }),
    };
  });
}

function describeRequestBody(id: string, body: Joi.ObjectSchema): RequestBody {
  const example = lookUp(recordedExamples.operations, id)?.request;
  const schema = addTitle(`${toPascalCase(id)}Request`, toJsonSchema(body, 'request'));
  return {
    required: (schema.required ?? []).length > 0,
    content: { 'application/json': { schema, ...(example !== undefined && { example }) } },
  };
}

const descriptions: Record<number, string> = {
  200: 'Done, or the current state for a repeated call. Code 00, or 05 while it is in progress.',
  201: 'Created. Code 00.',
  202: 'In progress; repeat the call later. Code 05.',
};

/** Suffixes of the type names of responses, by HTTP status. */
const outcomes: Record<number, string> = { 200: 'Response', 201: 'Created', 202: 'Unfinished' };

function describeSuccess(operation: AnyOperation, status: number): Response {
  const examples = lookUp(recordedExamples.operations, operation.id)?.responses[status];
  return {
    description: descriptions[status] ?? 'Done.',
    headers: {
      'x-request-id': { schema: { type: 'string' } },
      ...contentLanguage,
      ...(operation.conditional && status === 200 && etag),
    },
    content: {
      ...(operation.file !== 'bytes' && {
        'application/json': {
          schema:
            operation.file === 'always'
              ? toJsonSchema(operation.data, 'response')
              : addTitle(
                  `${toPascalCase(operation.id)}${outcomes[status] ?? ''}`,
                  describeEnvelope(operation, status),
                ),
          ...listExamples(examples?.['application/json']),
        },
      }),
      ...(operation.file &&
        status === 200 &&
        Object.fromEntries(
          (operation.fileTypes ?? [csvType]).map((type) => [
            type,
            { schema: buildFileSchema(type), ...listExamples(examples?.[type]) },
          ]),
        )),
    },
  };
}

const csvType = 'text/csv';

/** CSV is text. Other files are bytes that no schema describes. */
function buildFileSchema(type: string): Schema {
  return type === csvType ? { type: 'string' } : { type: 'string', contentMediaType: type };
}

function describeEnvelope({ data, unfinishedData = data }: AnyOperation, status: number): Schema {
  return {
    type: 'object',
    required: ['status', 'code', 'data'],
    additionalProperties: false,
    properties: {
      status: { const: 'success' },
      code: { enum: status === 200 ? ['00', '05'] : status === 201 ? ['00'] : ['05'] },
      message: { type: 'string', minLength: 1 },
      data: toJsonSchema(status === 202 ? unfinishedData : data, 'response'),
    },
  };
}
