import { failureReasons } from '../../shared/failure-reason.js';
import { lookUp } from '../../shared/look-up.js';
import Joi from 'joi';
import { credentials, type AnyResellerOperation } from '../reseller/reseller-operation.js';
import { pascal } from '../pascal.js';
import { titled } from './components.js';
import { parametersOf } from './describe-operation.js';
import { examplesOf, recordedExamples } from './examples.js';
import { contentLanguage, failureReferences } from './failures.js';
import { jsonSchemaOf } from './json-schema.js';
import type { DescribedOperation, Schema } from './types.js';

/** A call of the reseller surface (docs/reference/api/reseller.md): always HTTP 200, with the code in `status`. */
export function describeResellerOperation(operation: AnyResellerOperation): DescribedOperation {
  return {
    operationId: operation.id,
    tags: ['Reseller'],
    summary: operation.summary,
    ...(operation.description !== undefined && { description: operation.description }),
    security: [{ resellerSign: [] }],
    parameters: [...parametersOf(credentials, 'query'), ...parametersOf(operation.query, 'query')],
    responses: {
      200: {
        description: 'Always HTTP 200. `status` carries the code; 00 is a success.',
        headers: contentLanguage,
        content: {
          'application/json': {
            schema: {
              oneOf: [
                titled(`${pascal(operation.id)}Response`, answerOf(operation)),
                titled(`${pascal(operation.id)}Refusal`, otherAnswerOf(operation)),
              ],
            },
            ...examplesOf(
              lookUp(recordedExamples.operations, operation.id)?.responses[200]?.['application/json'],
            ),
          },
        },
      },
      // Of every other method on this path.
      ...failureReferences([405]),
    },
  };
}

function answerOf({ answer }: AnyResellerOperation): Schema {
  return schemaOf(['00'], answer);
}

function otherAnswerOf({ otherAnswer = {} }: AnyResellerOperation): Schema {
  return schemaOf(['01', '02', '03', '04', '05', '06', '07'], {
    reason: Joi.string()
      .valid(...failureReasons)
      .description('Why, as a word that stays. Absent with 05.'),
    ...otherAnswer,
  });
}

function schemaOf(codes: string[], fields: Record<string, Joi.Schema>): Schema {
  return jsonSchemaOf(
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
