/** What is wrong with a field, as a word that never changes; the table of docs/reference/field-reasons.md is held against this one. */
export const fieldReasons = {
  missing: 'It is required.',
  wrong_type: 'Another type of JSON: a number sent as text, or the reverse.',
  wrong_form: 'Its characters, or how it is written.',
  unknown_value: 'It is none of the words that are taken.',
  too_short: 'Text with too few characters; empty text is.',
  too_long: 'Text with too many characters.',
  too_few: 'A list with too few entries.',
  too_many: 'A list with too many entries.',
  too_small: 'A number below the least.',
  too_large: 'A number above the most.',
  given_twice: 'The parameter, or the entry, is there more than once.',
  out_of_range: 'Days that do not fit each other: the end before the start, or too far apart.',
  not_accepted: 'Well written, but not possible here; `message` says why.',
} as const;

export type FieldReason = keyof typeof fieldReasons;
