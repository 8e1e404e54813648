import type { FieldReason } from '../shared/field-reason.js';

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
