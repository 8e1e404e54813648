import { MongoError } from '../../errors.js';
import { utcMillis } from './calendar.js';

const pattern =
  /^\s*(?<year>\d{4})-(?<month>\d{1,2})-(?<day>\d{1,2})(?:[Tt\s]\s*(?<hour>\d{1,2}):(?<minute>\d\d)(?::(?<second>\d\d)(?:[.,](?<fraction>\d{1,9}))?)?)?\s*(?<zone>[Zz]|UTC|GMT|[+-]\d{1,2}(?::?\d\d)?)?\s*$/;

/**
 * The milliseconds of a date in ISO 8601, in its usual spellings; other forms that MongoDB reads (`31 Jan 2024`) are
 * refused. Error 241.
 */
export function parseDate(text: string): number {
  const found = pattern.exec(text)?.groups;
  if (found === undefined) {
    throw conversionFailure(text, 'embedded-mongo reads dates in ISO 8601 only');
  }
  const { hour = '0', minute = '0', second = '0', fraction = '', zone } = found;
  const [year, month, day] = [Number(found['year']), Number(found['month']), Number(found['day'])];
  const midnight = utcMillis(year, month, day);
  // A month of 13 and a day that the month does not have carry over to another one.
  const isDate = new Date(midnight).getUTCDate() === day && new Date(midnight).getUTCMonth() === month - 1;
  if (!isDate || Number(hour) > 24 || Number(minute) > 59 || Number(second) > 60) {
    throw conversionFailure(text, 'The parsed date was invalid');
  }
  const millis = Number(fraction.slice(0, 3).padEnd(3, '0'));
  const time = ((Number(hour) * 60 + Number(minute)) * 60 + Number(second)) * 1000 + millis;
  return midnight + time - offsetOf(zone ?? '');
}

function conversionFailure(text: string, reason: string): MongoError {
  return new MongoError(241, `Error parsing date string '${text}'; ${reason}`);
}

/** `Z`, `UTC`, `+07`, `+0700`, `+07:00` as ms east of UTC. */
function offsetOf(zone: string): number {
  const [, sign, hours = '0', minutes = '0'] = /([+-])(\d{1,2}):?(\d\d)?$/.exec(zone) ?? [];
  return (Number(hours) * 60 + Number(minutes)) * 60_000 * (sign === '-' ? -1 : 1);
}
