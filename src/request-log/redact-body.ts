/**
 * Redacts bodies for the request log by an allowlist. A value is kept if its field and position are
 * listed here, and if the value has the form of that field. For other values only the type and the
 * length are kept. So neither a new field nor a misplaced value leaks a secret or a name.
 */
import { pathSafeRefIdPattern, refIdPattern } from '../shared/input-rules.js';
import { redact } from '../shared/logger.js';
import { maskNumber } from '../shared/mask.js';

const word = /^[A-Za-z_.*-]{1,40}$/;
const reference = pathSafeRefIdPattern;
const amount = /^(0|[1-9]\d{0,12})$/;
const day = /^\d{4}-\d{2}(-\d{2})?(T[\d:.]{5,12}(Z|[+-]\d{2}:\d{2}))?$/;
const zone = /^[A-Za-z_+-]{1,20}(\/[A-Za-z_+-]{1,20}){0,2}$/;

/** On the reseller surface the status is a two-digit code. */
const state = /^([A-Za-z_.*-]{1,40}|\d{2})$/;

/** Fields whose values are neither secrets nor customer data, with their forms. */
const patternsByField = new Map<string, RegExp>([
  ['status', state],
  ...[
    'transaction_status',
    'reason',
    'type',
    'format',
    'category',
    'subcategory',
    'operator',
    'currency',
    'event',
    'events',
    'lang',
    'language',
    'result',
    'field',
    'role',
    'tag',
  ].map((name): [string, RegExp] => [name, word]),
  ...[
    'code',
    'product_code',
    'transaction_id',
    'id',
    'settlement_id',
    'report_id',
    'delivery_id',
    'endpoint_id',
    'request_id',
  ].map((name): [string, RegExp] => [name, reference]),
  ...['ref_id', 'ref_ids', 'not_found'].map((name): [string, RegExp] => [name, refIdPattern]),
  ...[
    'price',
    'max_price',
    'amount',
    'balance',
    'balance_before',
    'balance_after',
    'fee',
    'net_amount',
    'total',
    'total_pages',
    'total_bill',
    'admin_fee',
    'total_amount',
    'commission_amount',
    'page',
    'limit',
    'pending_settlement',
    'size',
    'rows',
    'width',
    'overlap_minutes',
    'rate_limit',
    'in_flight_limit',
  ].map((name): [string, RegExp] => [name, amount]),
  ...[
    'start_date',
    'end_date',
    'timestamp',
    'created_at',
    'updated_at',
    'completed_at',
    'bill_period',
    'estimated_completion',
    'previous_valid_until',
  ].map((name): [string, RegExp] => [name, day]),
  ['tz', zone],
]);

/** Fields whose objects and lists are redacted field by field. */
const containers = new Set([
  '',
  'data',
  'data_hint',
  'pagination',
  'period',
  'summary',
  'attempt',
  'transactions',
  'deposits',
  'settlements',
  'deliveries',
  'entries',
  'products',
]);
/** Lists of plain values. */
const lists = new Set(['ref_ids', 'not_found', 'events']);

const customerNumberFields = new Set(['destination', 'customer', 'customer_number']);

/** Any other field name may be a value that was sent in the wrong place. */
const fieldName = /^[A-Za-z_]{1,40}$/;
const depthMax = 6;
const itemsMax = 3;
const fieldsMax = 40;
const textMax = 200;
const jsonMax = 4_000;

/**
 * Returns a redacted body as JSON. Null if there is no body. Only the first three items of a list
 * are kept.
 * @param textFields Fields of the outermost object that hold our own words, in addition to the
 * allowlist.
 */
export function redactBody(body: unknown, textFields: readonly string[] = []): string | null {
  if (body === undefined || body === null) {
    return null;
  }
  const found = redactField('', body, 0);
  if (typeof found === 'object' && found !== null && !Array.isArray(found)) {
    for (const [name, value] of Object.entries(body).filter(([each]) => textFields.includes(each))) {
      Object.assign(found, { [name]: redactList(value) });
    }
  }
  const text = JSON.stringify(found);
  return text.length > jsonMax ? JSON.stringify({ '…': `<${text.length} characters>` }) : text;
}

/**
 * Redacts our own messages, which may quote input. Masks keys, secrets in URLs and long numbers.
 */
export function redactText(text: string): string {
  return shorten(String(redact(text)).replace(/\d{9,}/g, maskNumber));
}

function redactList(value: unknown): unknown {
  if (typeof value === 'string') {
    return redactText(value);
  }
  return Array.isArray(value)
    ? value.slice(0, fieldsMax).map((each: unknown) => {
        const { field, reason, message } = each as Record<string, unknown>;
        return {
          field: redactText(String(field)),
          reason: redactText(String(reason)),
          message: redactText(String(message)),
        };
      })
    : null;
}

function redactField(name: string, value: unknown, depth: number): unknown {
  if (typeof value === 'string' || typeof value === 'number') {
    return redactScalar(name, value);
  }
  if (typeof value !== 'object' || value === null) {
    return value;
  }
  const isList = Array.isArray(value);
  if (depth === depthMax || !(containers.has(name) || (isList && lists.has(name)))) {
    return isList ? `<list of ${value.length}>` : '<object>';
  }
  if (isList) {
    const items: unknown[] = value
      .slice(0, itemsMax)
      .map((each: unknown) =>
        Array.isArray(each) ? `<list of ${each.length}>` : redactField(name, each, depth + 1),
      );
    return value.length > itemsMax ? [...items, `<${value.length - itemsMax} more>`] : items;
  }
  return Object.fromEntries(
    Object.entries(value)
      .slice(0, fieldsMax)
      .map(([key, each]) => [fieldName.test(key) ? key : '<field>', redactField(key, each, depth + 1)]),
  );
}

function redactScalar(name: string, value: string | number): string | number {
  const text = String(value);
  // A number beyond the safe integers differs from the one that was sent.
  const isExact = typeof value === 'string' || Number.isSafeInteger(value);
  if (isExact && patternsByField.get(name)?.test(text) && redact(text) === text) {
    return value;
  }
  return customerNumberFields.has(name) && text.length <= textMax
    ? maskNumber(text)
    : `<${typeof value === 'number' ? 'number' : 'text'} of ${text.length}>`;
}

function shorten(text: string): string {
  return text.length > textMax ? `${text.slice(0, textMax)}…` : text;
}
