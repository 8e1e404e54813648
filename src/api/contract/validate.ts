import { type FieldReason, ValidationError, type FieldError } from '../../shared/errors.js';
import type Joi from 'joi';
import { applyInputLimits } from './input-limits.js';
import { buildJoiMessage } from '../../shared/say.js';
import { indonesianJoiMessages } from '../language/joi-messages.js';

/** Field reasons by Joi's error code. All other codes are about the form of a value. */
const reasonsByJoiCode = new Map<string, FieldReason>([
  ['any.required', 'missing'],
  ['object.missing', 'missing'],
  ['any.only', 'unknown_value'],
  ['any.custom', 'not_accepted'],
  ['custom', 'not_accepted'],
  ['string.base', 'wrong_type'],
  ['number.base', 'wrong_type'],
  ['boolean.base', 'wrong_type'],
  ['array.base', 'wrong_type'],
  ['object.base', 'wrong_type'],
  ['string.empty', 'too_short'],
  ['string.min', 'too_short'],
  ['string.max', 'too_long'],
  ['array.min', 'too_few'],
  ['array.max', 'too_many'],
  ['array.unique', 'given_twice'],
  ['number.min', 'too_small'],
  ['number.max', 'too_large'],
  ['number.unsafe', 'too_large'],
  ['number.infinity', 'too_large'],
]);

/** Returns the reason of docs/reference/field-reasons.md for a Joi error code. */
export function getFieldReason(code: string): FieldReason {
  return reasonsByJoiCode.get(code) ?? 'wrong_form';
}

/**
 * Validates input at the edge (docs/reference/api/conventions.md#input). Types are not converted
 * and unknown fields are ignored. Length errors are checked first and reported alone.
 * @throws ValidationError (400/01) if the input is invalid.
 */
export function validate<T>(schema: Joi.ObjectSchema<T>, input: unknown): T {
  const bounded = applyInputLimits(schema, input);
  if (bounded.tooLong.length > 0) {
    throw new ValidationError(bounded.tooLong);
  }
  const result = schema.validate(bounded.input, validateOnlyOptions);
  if (result.error) {
    const mistakes = (options: Joi.ValidationOptions) =>
      schema.validate(bounded.input, options).error?.details ?? [];
    throw new ValidationError(combineLanguages(mistakes(englishOptions), mistakes(indonesianOptions)));
  }
  return result.value;
}

/**
 * The first pass builds no messages. Joi would compile its message templates again for every call.
 */
const validateOnlyOptions: Joi.ValidationOptions = {
  abortEarly: true,
  convert: false,
  stripUnknown: { objects: true },
};

const englishOptions: Joi.ValidationOptions = {
  ...validateOnlyOptions,
  abortEarly: false,
  errors: { wrap: { label: false, array: false }, escapeHtml: false },
  // Joi's defaults say "1 items", and mention peers of a `value` that no client sent.
  messages: {
    'array.min': '{{#label}} must contain at least {{#limit}} {if(#limit == 1, "item", "items")}',
    'object.missing': 'one of {{#peersWithLabels}} must be given',
    'object.oxor': '{{#presentWithLabels}} cannot be given together',
    'object.xor': '{{#presentWithLabels}} cannot be given together',
  },
};

const indonesianOptions: Joi.ValidationOptions = {
  ...englishOptions,
  errors: { ...englishOptions.errors, language: 'id' },
  messages: { id: indonesianJoiMessages },
};

/**
 * Pairs the errors of both languages. Both lists have the same order. Errors with the same field
 * and message are merged.
 */
function combineLanguages(
  english: Joi.ValidationErrorItem[],
  translated: Joi.ValidationErrorItem[],
): FieldError[] {
  const seen = new Set<string>();
  return english.flatMap(({ path, type, message }, index) => {
    const field = path.length > 0 ? path.join('.') : 'body';
    const isRepeated = seen.has(`${field}: ${message}`);
    seen.add(`${field}: ${message}`);
    const words = buildJoiMessage({ en: message, id: translated[index]?.message ?? message });
    return isRepeated ? [] : [{ field, reason: getFieldReason(type), message: words }];
  });
}
