import { DateTime } from 'luxon';
import { env } from '../../config/env.js';
import { now } from '../shared/clock.js';

const months = ['JAN', 'FEB', 'MAR', 'APR', 'MEI', 'JUN', 'JUL', 'AGU', 'SEP', 'OKT', 'NOV', 'DES'];

/**
 * The period of a bill as YYYY-MM, from the ways in which billers write it: `201901`, `MEI 2019`, `MEI 22`. Of a
 * bill over several months, the newest. Some billers give none that can be read: then it is the present month.
 */
export function getBillPeriod(written: (string | null | undefined)[]): string {
  const read = written.flatMap((each) => readPeriod(each ?? '') ?? []).sort();
  return read.at(-1) ?? DateTime.fromJSDate(now(), { zone: env.BUSINESS_TIMEZONE }).toFormat('yyyy-MM');
}

function readPeriod(written: string): string | null {
  const digits = /^(20\d{2})-?(0[1-9]|1[0-2])$/.exec(written.trim());
  if (digits) {
    return `${digits[1] ?? ''}-${digits[2] ?? ''}`;
  }
  const words = /^([A-Z]{3})[A-Z]*\s+(?:20)?(\d{2})$/.exec(written.trim().toUpperCase());
  const month = months.indexOf(words?.[1] ?? '') + 1;
  return words && month > 0 ? `20${words[2] ?? ''}-${String(month).padStart(2, '0')}` : null;
}
