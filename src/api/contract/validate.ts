import { type FieldReason, ValidationError, type FieldError } from '../../shared/errors.js';
import type Joi from 'joi';
import { applyInputLimits } from './input-limits.js';
import { saidByJoi } from '../../shared/say.js';
import { indonesianJoiMessages } from '../language/joi-messages.js';

/** By Joi's codes. Those that are not here are about how a value is written. */
const reasonsByJoiCode = new Map<string, FieldReason>([
  ['any.required', 'missing'],
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

/** The word of docs/reference/field-reasons.md for a mistake that Joi found. */
export function getFieldReason(code: string): FieldReason {
  return reasonsByJoiCode.get(code) ?? 'wrong_form';
}

/**
 * Checks input once, at the edge (docs/reference/api/conventions.md#input): types are never converted, unknown fields are ignored,
 * and mistakes are named by their fields. Lengths come first, and where one is wrong they come alone.
 * @throws ValidationError (400/01)
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

/** What is right is looked at once, without words: Joi would make its templates of them anew with each call. */
const validateOnlyOptions: Joi.ValidationOptions = {
  abortEarly: true,
  convert: false,
  stripUnknown: { objects: true },
};

const englishOptions: Joi.ValidationOptions = {
  ...validateOnlyOptions,
  abortEarly: false,
  errors: { wrap: { label: false, array: false }, escapeHtml: false },
  // Joi's own speak of 1 items, and of peers of a `value`, which nobody sent.
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
 * Both are of the same schema and input, so they have the same mistakes in the same order. One that breaks two rules which say the
 * same of it is one mistake.
 */
function combineLanguages(
  english: Joi.ValidationErrorItem[],
  translated: Joi.ValidationErrorItem[],
): FieldError[] {
  const said = new Set<string>();
  return english.flatMap(({ path, type, message }, index) => {
    const field = path.length > 0 ? path.join('.') : 'body';
    const isRepeated = said.has(`${field}: ${message}`);
    said.add(`${field}: ${message}`);
    const words = saidByJoi({ en: message, id: translated[index]?.message ?? message });
    return isRepeated ? [] : [{ field, reason: getFieldReason(type), message: words }];
  });
}
