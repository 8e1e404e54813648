import type Joi from 'joi';
import { ValidationError } from '../shared/errors.js';

/**
 * Checks input once, at the edge (docs/interface.md#input): types are never converted, unknown fields are ignored,
 * and every mistake is named by its field.
 * @throws ValidationError (400/01)
 */
export function validate<T>(schema: Joi.ObjectSchema<T>, input: unknown): T {
  const result = schema.validate(input, options);
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
