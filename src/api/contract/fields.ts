import Joi from 'joi';
import { limits } from '../../../config/limits.js';
import { findTimeZone } from '../../shared/business-time.js';
import { noControlPattern, printablePattern } from '../../shared/printable.js';
import { urlGuard } from '../../webhooks/deliver/url-guard.js';
import { say } from '../../shared/say.js';
import { label, toJoiMessages } from '../language/joi-messages.js';
import type { FieldError } from '../../shared/errors.js';

/** Gives a schema a name of its own in the OpenAPI document (components.schemas): generated clients call its type so. */
export function nameSchema<Schema extends Joi.Schema>(name: string, schema: Schema): Schema {
  return schema.meta({ name }) as Schema;
}

/** What else than Joi's own rules the document says of a schema: its checks are a function. */
export function documentSchemaAs<Schema extends Joi.Schema>(schema: Schema, shown: object): Schema {
  return schema.meta({ shown }) as Schema;
}

/** `webhook-id` as `WebhookId`, `transaction.pending` as `TransactionPending`. */
export function toPascalCase(name: string): string {
  return name.replace(/(?:^|\W|_)(\w)/g, (_match, letter: string) => letter.toUpperCase());
}

/** Schemas of the fields that many operations share (bounds: docs/reference/api/limits.md). */

const buildTextSchema = (max: number, pattern: RegExp, words: 'noUnseenCharacters' | 'noControlCharacters') =>
  Joi.string()
    .max(max)
    .pattern(pattern)
    .messages(toJoiMessages({ 'string.pattern.base': say(words, label) }));

/** Free text: whatever can be seen, trimmed nowhere. */
export const text = (max: number) => buildTextSchema(max, printablePattern, 'noUnseenCharacters');

export const refId = Joi.string()
  .max(64)
  .pattern(/^[A-Za-z0-9._:-]{1,64}$/)
  .messages(toJoiMessages({ 'string.pattern.base': say('refIdForm', label) }))
  .description('Your reference, unique for ever. Repeat the call with the same one after a lost answer.')
  .example('order-20240301-0001');

const reservedRefIds: readonly string[] = ['.', '..', 'lookup'];

/** Of what is made: none that stands for something else at the end of an address, where it could not be read again. */
export const newRefId = refId
  .custom((value: string, helpers) =>
    reservedRefIds.includes(value)
      ? helpers.message(toJoiMessages({ custom: say('refIdOfAnother', label) }))
      : value,
  )
  .description(
    'Your reference, unique for ever; not `.`, `..` or `lookup`. Repeat the call with the same one after a lost answer.',
  );

export const productCode = Joi.string()
  .max(50)
  .pattern(/^[A-Za-z0-9._-]{1,50}$/)
  .messages(toJoiMessages({ 'string.pattern.base': say('productCodeForm', label) }))
  .example('S10');

/** Its form depends on the product and is checked there (422/04); here only that it is text. */
export const customerNumber = buildTextSchema(100, noControlPattern, 'noControlCharacters')
  .min(1)
  .description(
    "Its form depends on the product. Pulsa and data: 10 to 13 digits, a mobile number of the product's operator.",
  )
  .example('081234561230');

export const rupiah = (bounds: { min: number; max: number }) =>
  Joi.number()
    .integer()
    .min(bounds.min)
    .max(bounds.max)
    .messages(
      toJoiMessages({
        'number.integer': say('wholeRupiah', label),
        'number.unsafe': say('safeRupiah', label),
      }),
    );

/** Of a product: how long an order of it may wait. */
export const maxWaitS = Joi.number()
  .integer()
  .min(limits.maxWaitMinS)
  .max(limits.maxWaitMaxS)
  .allow(null)
  .example(120)
  .description(
    'Seconds that a purchase may wait for its turn; then its money goes back. Null: as long as your provider is given, 10 minutes by default. Never longer than that of your provider.',
  );

export const maxPrice = rupiah({ min: 0, max: limits.moneyMax }).description(
  'Refuse (409) if the price is higher now. Rupiah.',
);

/** In our words: Joi's are about schemes and patterns. */
const urlForm = say('urlForm', label);

export const url = Joi.string()
  .max(limits.urlLengthMax)
  .uri({ scheme: ['https', 'http'] })
  .messages(toJoiMessages({ 'string.uri': urlForm, 'string.uriCustomScheme': urlForm }))
  .example('https://shop.example/hooks/topup');

/** One that is never resolved before it is used: how it is written must be allowed. */
export const callbackUrl = url
  .custom((value: string, helpers) => {
    const problem = urlGuard.problemOf(value);
    // What is no URL at all has been told so.
    return problem === null || url.validate(value).error
      ? value
      : helpers.message(toJoiMessages({ custom: say('urlField', { field: label.label, problem }) }));
  })
  .allow(null);

const isoDate = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2}))?$/;

const dateRule = say('dateForm', label);

/** A day in business time, or a full ISO 8601 time with its zone. */
export const isoDay = Joi.string()
  .max(40)
  .pattern(isoDate)
  .custom((value: string, helpers) =>
    Number.isNaN(Date.parse(value)) || !isRealDay(value) ? helpers.error('string.pattern.base') : value,
  )
  .messages(
    toJoiMessages({ 'string.pattern.base': dateRule, 'string.base': dateRule, 'string.empty': dateRule }),
  )
  .example('2024-03-01');

function isRealDay(value: string): boolean {
  const day = value.slice(0, 10);
  const at = new Date(`${day}T00:00:00Z`);
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(day);
}

/** In what zone times of the answer are written. Days of filters stay those of business time. */
export const tz = text(64)
  .custom((value: string, helpers) => findTimeZone(value) ?? helpers.error('any.invalid'))
  .messages(toJoiMessages({ 'any.invalid': say('zoneName', label) }))
  .example('Asia/Jakarta')
  .description(
    'Times of the answer are written in this time zone (IANA name), with its offset; without it in UTC. Dates of filters are business days all the same.',
  );

/** The query of a call that answers one thing. */
export interface Zoned {
  tz?: string;
}

export const zoned = Joi.object<Zoned>({ tz });

export const page = Joi.number().integer().min(1).max(1_000_000_000).default(limits.pageDefault);
export const pageSize = Joi.number().integer().min(1).max(limits.pageSizeMax).default(limits.pageSizeDefault);
/** One of these words in a filter, in whatever case it is written: what reads it compares it in lower case. */
export const caseless = (words: readonly string[]) =>
  Joi.string()
    .valid(...words)
    .insensitive();

export const filterStatus = caseless(['pending', 'success', 'failed', 'processing'] as const);

/** A whole number in a query string, where every value is text. */
export const wholeNumber = (bounds: { max: number; standard?: number }) =>
  documentSchemaAs(wholeNumberText(bounds), {
    type: 'integer',
    minimum: 1,
    maximum: bounds.max,
    ...(bounds.standard !== undefined && { default: bounds.standard }),
  });

const wholeNumberText = ({ max, standard }: { max: number; standard?: number }) => {
  const words = say('wholeNumberTo', { ...label, max });
  const schema = Joi.string()
    .max(9)
    .pattern(/^\d{1,9}$/)
    .custom((value: string, helpers) =>
      Number(value) < 1
        ? helpers.error('number.min')
        : Number(value) > max
          ? helpers.error('number.max')
          : Number(value),
    )
    .messages(toJoiMessages({ 'string.pattern.base': words, 'number.min': words, 'number.max': words }));
  return standard === undefined ? schema : schema.default(standard);
};

/** ISO 8601, in answers: UTC, or in the `tz` that was asked for. */
export const timestamp = Joi.string().isoDate().example('2024-03-01T05:06:07.000Z');
export const pagination = nameSchema(
  'Pagination',
  Joi.object({
    page: Joi.number().required(),
    limit: Joi.number().required(),
    total: Joi.number().required(),
    total_pages: Joi.number().required(),
  }),
);

/** What is wrong with URLs that are to be saved, by their fields; names are resolved. Null and left out are no URLs. */
export async function findUrlErrors(given: Record<string, string | null | undefined>): Promise<FieldError[]> {
  const found = await Promise.all(
    Object.entries(given).map(async ([field, value]) => {
      const problem = typeof value === 'string' ? await urlGuard.problemWhenSaved(value) : null;
      return problem === null ? [] : [{ field, message: say('urlField', { field, problem }) }];
    }),
  );
  return found.flat();
}
