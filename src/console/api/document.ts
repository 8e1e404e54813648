/**
 * Builds the OpenAPI document of the console API. The types of the console's pages are generated
 * from it.
 */
import { lookUp } from '../../shared/collections.js';
import { toPascalCase } from '../../api/contract/fields.js';
import { addTitle, extractComponents } from '../../api/openapi/components.js';
import { describeParameters } from '../../api/openapi/describe-operation.js';
import { buildFailureEnvelope } from '../../api/openapi/failures.js';
import { toJsonSchema } from '../../api/openapi/json-schema.js';
import type { DocumentParts } from '../../api/openapi/types.js';
import { consoleOperations } from './operations.js';
import type { AnyConsoleOperation } from './console-operation.js';

export function consoleDocument(): object {
  const paths: DocumentParts['paths'] = {};
  for (const operation of consoleOperations) {
    const path = operation.path.replace(/:(\w+)/g, '{$1}');
    paths[path] = { ...lookUp(paths, path), [operation.method]: describe(operation) };
  }
  return extractComponents({
    openapi: '3.1.0',
    info: { title: 'Operator console', version: '1' },
    servers: [{ url: '/admin/api' }],
    paths,
    components: { responses: { Failure: failure } },
  });
}

function describe({ id, summary, params, query, body, data }: AnyConsoleOperation) {
  return {
    operationId: id,
    summary,
    parameters: [...describeParameters(params, 'path'), ...describeParameters(query, 'query')],
    ...(body && {
      requestBody: {
        required: true,
        content: {
          'application/json': {
            schema: addTitle(`${toPascalCase(id)}Request`, toJsonSchema(body, 'request')),
          },
        },
      },
    }),
    responses: {
      200: {
        description: 'Done.',
        content: {
          'application/json': {
            schema: {
              type: 'object',
              required: ['status', 'code', 'data'],
              additionalProperties: false,
              properties: {
                status: { const: 'success' },
                code: { const: '00' },
                data: addTitle(`${toPascalCase(id)}Data`, toJsonSchema(data, 'response')),
              },
            },
          },
        },
      },
      default: { $ref: '#/components/responses/Failure' },
    },
  };
}

const failure = {
  description: 'The failure envelope of every call of this service.',
  content: { 'application/json': { schema: buildFailureEnvelope({ type: 'string' }) } },
};
