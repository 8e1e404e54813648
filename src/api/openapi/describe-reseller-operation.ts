import { failureReasons } from '../../shared/errors.js';
import { lookUp } from '../../shared/collections.js';
import Joi from 'joi';
import { credentials, type AnyResellerOperation } from '../reseller/reseller-operation.js';
import { toPascalCase } from '../contract/fields.js';
import { addTitle } from './components.js';
import { describeParameters } from './describe-operation.js';
import { listExamples, recordedExamples } from './examples.js';
import { contentLanguage, buildFailureReferences } from './failures.js';
import { toJsonSchema } from './json-schema.js';
import type { DescribedOperation, Schema } from './types.js';

/**
 * Describes a call of the reseller surface (docs/reference/api/reseller.md): always HTTP 200, with
 * the code in `status`.
 */
export function describeResellerOperation(operation: AnyResellerOperation): DescribedOperation {
  return {
    operationId: operation.id,
    tags: ['Reseller'],
    summary: operation.summary,
    ...(operation.description !== undefined && { description: operation.description }),
    security: [{ resellerSign: [] }],
    parameters: [
      ...describeParameters(credentials, 'query'),
      ...describeParameters(operation.query, 'query'),
    ],
    responses: {
      200: {
        description: 'Always HTTP 200. `status` contains the code; 00 is a success.',
        headers: contentLanguage,
        content: {
          'application/json': {
            schema: {
              oneOf: [
                addTitle(`${toPascalCase(operation.id)}Response`, describeSuccess(operation)),
                addTitle(`${toPascalCase(operation.id)}Refusal`, describeOtherResponse(operation)),
              ],
            },
            ...listExamples(
              lookUp(recordedExamples.operations, operation.id)?.responses[200]?.['application/json'],
            ),
          },
        },
      },
      // For every other method on this path.
      ...buildFailureReferences([405]),
    },
  };
}

function describeSuccess({ answer }: AnyResellerOperation): Schema {
  return buildResponseSchema(['00'], answer);
}

function describeOtherResponse({ otherAnswer = {} }: AnyResellerOperation): Schema {
  return buildResponseSchema(['01', '02', '03', '04', '05', '06', '07'], {
    reason: Joi.string()
      .valid(...failureReasons)
      .description('Stable identifier of the cause. Absent with 05.'),
    ...otherAnswer,
  });
}

function buildResponseSchema(codes: string[], fields: Record<string, Joi.Schema>): Schema {
  return toJsonSchema(
    Joi.object({
      status: Joi.string()
        .valid(...codes)
        .required(),
      message: Joi.string().required(),
      ...fields,
    }),
    'response',
  );
}
