import Joi from 'joi';
import { limits } from '../../../config/limits.js';
import { findTimeZone } from '../../shared/business-time.js';
import { pathSafeRefIdPattern, refIdPattern } from '../../shared/input-rules.js';
import { noControlPattern, printablePattern } from '../../shared/printable.js';
import { urlGuard } from '../../webhooks/deliver/url-guard.js';
import { say } from '../../shared/say.js';
import { label, toJoiMessages } from '../language/joi-messages.js';
import type { FieldError } from '../../shared/errors.js';

/**
 * Names a schema in the OpenAPI document (components.schemas). Generated clients use this name for
 * the schema's type.
 */
export function nameSchema<Schema extends Joi.Schema>(name: string, schema: Schema): Schema {
  return schema.meta({ name }) as Schema;
}

/** Sets the OpenAPI rules of a schema whose checks are functions. */
export function documentSchemaAs<Schema extends Joi.Schema>(schema: Schema, shown: object): Schema {
  return schema.meta({ shown }) as Schema;
}

/** Converts `webhook-id` to `WebhookId` and `transaction.pending` to `TransactionPending`. */
export function toPascalCase(name: string): string {
  return name.replace(/(?:^|\W|_)(\w)/g, (_match, letter: string) => letter.toUpperCase());
}

const buildTextSchema = (max: number, pattern: RegExp, words: 'noUnseenCharacters' | 'noControlCharacters') =>
  Joi.string()
    .max(max)
    .pattern(pattern)
    .messages(toJoiMessages({ 'string.pattern.base': say(words, label) }));

/** Free text of printable characters. It is not trimmed. */
export const text = (max: number) => buildTextSchema(max, printablePattern, 'noUnseenCharacters');

const buildRefIdSchema = (pattern: RegExp, words: 'refIdForm' | 'pathSafeRefIdForm') =>
  Joi.string()
    .max(64)
    .pattern(pattern)
    .messages(toJoiMessages({ 'string.pattern.base': say(words, label) }))
    .description(
      'Your reference, unique forever. If a response is lost, repeat the call with the same ref_id.',
    )
    .example('order-20240301-0001');

/** The ref_id of a deposit or settlement, and the filter of lists. */
export const refId = buildRefIdSchema(refIdPattern, 'refIdForm');

/** The ref_id of a purchase, which is also part of a path. */
export const pathSafeRefId = buildRefIdSchema(pathSafeRefIdPattern, 'pathSafeRefIdForm');

const reservedRefIds: readonly string[] = ['.', '..', 'lookup'];

/**
 * The ref_id of a new object. Refuses values that have another meaning as the last segment of a
 * path.
 */
export const newRefId = pathSafeRefId
  .custom((value: string, helpers) =>
    reservedRefIds.includes(value)
      ? helpers.message(toJoiMessages({ custom: say('refIdOfAnother', label) }))
      : value,
  )
  .description(
    'Your reference, unique forever; not `.`, `..` or `lookup`, and without `/`. If a response is lost, repeat the call with the same ref_id.',
  );

export const productCode = Joi.string()
  .max(50)
  .pattern(/^[A-Za-z0-9._-]{1,50}$/)
  .messages(toJoiMessages({ 'string.pattern.base': say('productCodeForm', label) }))
  .example('S10');

/**
 * Checks only that the value is text. The form depends on the product and is checked later
 * (422/04).
 */
export const customerNumber = buildTextSchema(100, noControlPattern, 'noControlCharacters')
  .min(1)
  .description(
    "The format depends on the product. Pulsa and data: 10 to 13 digits, a mobile number of the product's operator.",
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

/** Seconds that an order of a product may wait. */
export const maxWaitS = Joi.number()
  .integer()
  .min(limits.maxWaitMinS)
  .max(limits.maxWaitMaxS)
  .allow(null)
  .example(120)
  .description(
    'Maximum seconds that a purchase waits for its turn; then it is refunded. Null: the limit of your provider, 10 minutes by default. The limit of your provider always applies.',
  );

export const maxPrice = rupiah({ min: 0, max: limits.moneyMax }).description(
  'Refuse (409) if the price is higher now. Rupiah.',
);

/** Replaces Joi's messages, which mention schemes and patterns. */
const urlFormMessage = say('urlForm', label);

export const url = Joi.string()
  .max(limits.urlLengthMax)
  .uri({ scheme: ['https', 'http'] })
  .messages(toJoiMessages({ 'string.uri': urlFormMessage, 'string.uriCustomScheme': urlFormMessage }))
  .example('https://shop.example/hooks/topup');

/** A URL whose host name is not resolved here. Only the text is checked. */
export const callbackUrl = url
  .custom((value: string, helpers) => {
    const problem = urlGuard.problemOf(value);
    // Text that is not a URL has been reported already.
    return problem === null || url.validate(value).error
      ? value
      : helpers.message(toJoiMessages({ custom: say('urlField', { field: label.label, problem }) }));
  })
  .allow(null);

const isoDate = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2}))?$/;

const dateFormMessage = say('dateForm', label);

/** A day in business time, or a full ISO 8601 time with its offset. */
export const isoDay = Joi.string()
  .max(40)
  .pattern(isoDate)
  .custom((value: string, helpers) =>
    Number.isNaN(Date.parse(value)) || !isRealDay(value) ? helpers.error('string.pattern.base') : value,
  )
  .messages(
    toJoiMessages({
      'string.pattern.base': dateFormMessage,
      'string.base': dateFormMessage,
      'string.empty': dateFormMessage,
    }),
  )
  .example('2024-03-01');

function isRealDay(value: string): boolean {
  const day = value.slice(0, 10);
  const at = new Date(`${day}T00:00:00Z`);
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(day);
}

/** Time zone of the times in a response. Days of filters stay in business time. */
export const tz = text(64)
  .custom((value: string, helpers) => findTimeZone(value) ?? helpers.error('any.invalid'))
  .messages(toJoiMessages({ 'any.invalid': say('zoneName', label) }))
  .example('Asia/Jakarta')
  .description(
    'IANA name of the time zone for times in the response, which include its offset. Default UTC. Filter dates are always business days.',
  );

/** Query of calls that return one object. */
export interface ZoneQuery {
  tz?: string;
}

export const zoneQuery = Joi.object<ZoneQuery>({ tz });

export const page = Joi.number().integer().min(1).max(1_000_000_000).default(limits.pageDefault);
export const pageSize = Joi.number().integer().min(1).max(limits.pageSizeMax).default(limits.pageSizeDefault);
/** Accepts the words in any case. Handlers must compare the value in lower case. */
export const caseInsensitive = (words: readonly string[]) =>
  Joi.string()
    .valid(...words)
    .insensitive();

export const filterStatus = caseInsensitive(['pending', 'success', 'failed', 'processing'] as const);

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

/** ISO 8601 time in responses: UTC, or in the requested `tz`. */
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

/**
 * Resolves the host names of URLs that are about to be saved, and returns the errors by field. Null
 * and undefined are skipped.
 */
export async function findUrlErrors(urls: Record<string, string | null | undefined>): Promise<FieldError[]> {
  const found = await Promise.all(
    Object.entries(urls).map(async ([field, value]) => {
      const problem = typeof value === 'string' ? await urlGuard.problemWhenSaved(value) : null;
      return problem === null ? [] : [{ field, message: say('urlField', { field, problem }) }];
    }),
  );
  return found.flat();
}
