/**
 * Accepted and refused values for fields with custom rules, which Joi's description does not
 * contain.
 */

import { formatCursor } from '../../../../src/statements/statement.js';
import { uniqueRef } from '../../../support/api-client.js';

interface Form {
  inside: unknown[];
  outside: unknown[];
}

/** Today lies within the maximum period of any other end date. */
const today = new Date().toISOString();
const day: Form = {
  inside: [today.slice(0, 10), today, `${today.slice(0, 10)}T00:00+07:00`],
  outside: [
    '2024-02-30',
    '2024-13-01',
    '2024-1-1',
    '01-02-2024',
    '2024-01-01T10:00',
    '2024-01-01T25:00Z',
    'today',
  ],
};
const wholeText = (min: number, max: number): Form => ({
  inside: [String(min), String(max)],
  outside: [String(min - 1), String(max + 1), '1.5', '1e1', ' 1', '+1', '0x1', 'NaN', '1\u0000'],
});
const hostileUrls = [
  'https://user:secret@shop.example/',
  'https://shop.example:25/',
  'ftp://shop.example/',
  'shop',
];

/** A cursor for an empty statement. It is valid for every wallet. */
const emptyPlace = {
  statement: { period: { start: new Date(0), end: new Date(0) }, firstSeq: 1, lastSeq: 0 },
  after: 0,
};

export const fieldValues: Record<string, Form> = {
  start_date: day,
  end_date: day,
  since: {
    inside: ['2024-03-01T05:06:07.000Z', '2024-02-29', '2024-03-01T05:06+07:00'],
    outside: ['2024-W10', '2024-060', '2024-02-30', '2024-03-01T05:06', '20240301', '2024', 'soon'],
  },
  page: wholeText(1, 1_000_000),
  limit: wholeText(1, 100),
  cursor: {
    inside: [formatCursor(emptyPlace)],
    outside: ['', 'x', formatCursor({ ...emptyPlace, after: 1 }), `${formatCursor(emptyPlace)}=`],
  },
  sold_price: wholeText(1, 999_999_999),
  tz: {
    inside: ['Asia/Jakarta', 'asia/jakarta', 'UTC', 'America/Argentina/ComodRivadavia'],
    outside: ['+07:00', 'WIB', 'Mars/Olympus', 'Asia/Jakarta ', 'Asia/Jakarta\u0000', 'A'.repeat(65)],
  },
  max_price: wholeText(0, Number.MAX_SAFE_INTEGER),
  callback_url: {
    inside: ['https://shop.example/hooks/topup', `https://shop.example/${'x'.repeat(2_027)}`],
    outside: [...hostileUrls, `https://shop.example/${'x'.repeat(2_028)}`],
  },
  // The rules for the ref_id of a purchase.
  ref_id: {
    inside: ['order-20240301-0001', 'order-20240301-0001'.padEnd(64, '1'), 'o', 'lookup.', '...'],
    outside: ['.', '..', 'lookup', 'a b', 'order-1\u0000', 'order-1\n', 'o'.repeat(65)],
  },
  ref_ids: {
    inside: [['one', 'two']],
    outside: [['a b'], ['one', '']],
  },
  events: {
    inside: [['*'], ['transaction.*', 'webhook.disabled']],
    outside: [
      [''],
      ['transaction'],
      ['transaction.lost'],
      ['ping'],
      ['callback.wallet'],
      ['*.*'],
      ['__proto__'],
    ],
  },
  ip_whitelist: {
    inside: [['203.0.113.7', '2001:db8::/32'], ['0.0.0.0/0']],
    outside: [
      [''],
      ['10.0.0'],
      ['10.0.0.256'],
      ['010.0.0.1'],
      ['0x7f000001'],
      ['10.0.0.0/33'],
      ['10.0.0.0/'],
      ['10.0.0.0/8/8'],
      ['::1/129'],
      ['fe80::1%eth0'],
      ['shop.example'],
    ],
  },
};

const code = uniqueRef('P');

/** Values for fields whose schema example could identify data of another test. */
export const samples: Record<string, unknown> = { code, product_code: code };
