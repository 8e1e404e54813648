import type { Language } from '../../shared/messages.js';
import type { Message } from '../../shared/say.js';

/**
 * Joi's built-in messages in Indonesian. test/api/language/fields.long.test.ts finds missing ones.
 * There is no fallback entry, because it would override the messages of rules.
 */
export const indonesianJoiMessages: Record<string, string> = {
  'any.custom': '{{#label}} tidak bisa dibaca',
  'any.invalid': '{{#label}} berisi nilai yang tidak boleh',
  'any.only': '{{#label}} harus {if(#valids.length == 1, "", "salah satu dari ")}{{#valids}}',
  'any.required': '{{#label}} wajib diisi',
  'any.unknown': '{{#label}} tidak dikenal',
  'array.base': '{{#label}} harus berupa daftar',
  'array.includes': '{{#label}} berisi nilai yang tidak boleh',
  'array.max': '{{#label}} paling banyak {{#limit}} isian',
  'array.min': '{{#label}} paling sedikit {{#limit}} isian',
  'array.sparse': '{{#label}} tidak boleh berisi isian kosong',
  'array.unique': '{{#label}} berisi nilai yang sama lebih dari sekali',
  'boolean.base': '{{#label}} harus true atau false',
  'number.base': '{{#label}} harus berupa angka',
  'number.infinity': '{{#label}} tidak boleh tak terhingga',
  'number.integer': '{{#label}} harus bilangan bulat',
  'number.max': '{{#label}} paling besar {{#limit}}',
  'number.min': '{{#label}} paling kecil {{#limit}}',
  'number.unsafe': '{{#label}} harus bilangan yang aman',
  'object.and': '{{#label}} berisi {{#presentWithLabels}} tanpa {{#missingWithLabels}}',
  'object.base': '{{#label}} harus berupa objek',
  'object.min': '{{#label}} paling sedikit {{#limit}} isian',
  'object.missing': 'salah satu dari {{#peersWithLabels}} wajib diisi',
  'object.oxor': '{{#presentWithLabels}} tidak boleh diisi bersamaan',
  'object.xor': '{{#presentWithLabels}} tidak boleh diisi bersamaan',
  'string.base': '{{#label}} harus berupa teks',
  'string.empty': '{{#label}} tidak boleh kosong',
  'string.guid': '{{#label}} harus berupa GUID',
  'string.length': '{{#label}} harus {{#limit}} karakter',
  'string.max': '{{#label}} paling banyak {{#limit}} karakter',
  'string.min': '{{#label}} paling sedikit {{#limit}} karakter',
  'string.pattern.base': '{{#label}} tidak sesuai bentuk yang diminta',
};

/** Message parameter that Joi replaces with the name of the field. */
export const label = { label: '{{#label}}' };

/**
 * Converts messages, keyed by Joi code, to Joi's format: English at the top level, other languages
 * under their language code.
 */
export function toJoiMessages(messages: Record<string, Message>) {
  const inLanguage = (language: Language) =>
    Object.fromEntries(Object.entries(messages).map(([code, message]) => [code, message[language]]));
  return { ...inLanguage('en'), id: inLanguage('id') };
}
