import type Joi from 'joi';
import { withinBounds } from './bounds.js';
import { ValidationError } from '../shared/errors.js';

/**
 * Checks input once, at the edge (docs/interface.md#input): types are never converted, unknown fields are ignored,
 * and mistakes are named by their fields. Lengths come first, and where one is wrong they come alone.
 * @throws ValidationError (400/01)
 */
export function validate<T>(schema: Joi.ObjectSchema<T>, input: unknown): T {
  const bounded = withinBounds(schema, input);
  if (bounded.tooLong.length > 0) {
    throw new ValidationError(bounded.tooLong);
  }
  const result = schema.validate(bounded.input, options);
  if (result.error) {
    throw new ValidationError(
      result.error.details.map((detail) => ({
        field: detail.path.length > 0 ? detail.path.join('.') : 'body',
        message: detail.message,
      })),
    );
  }
  return result.value;
}

const options: Joi.ValidationOptions = {
  abortEarly: false,
  convert: false,
  stripUnknown: { objects: true },
  errors: { wrap: { label: false, array: false }, escapeHtml: false },
};
