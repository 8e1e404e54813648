import { MongoError } from '../../errors.js';

/** A time zone. */
export interface Zone {
  readonly isUtc: boolean;
  readonly offsetAt: (utcMillis: number) => number;
}

/** Returns a date whose UTC fields hold the local time in the zone. */
export function localDate(utcMillis: number, zone: Zone): Date {
  return new Date(utcMillis + zone.offsetAt(utcMillis));
}

export const UTC: Zone = { isUtc: true, offsetAt: () => 0 };

const zones = new Map<string, Zone>([['UTC', UTC]]);
const zonesMax = 1000;

/**
 * Finds the zone with an Olson name, or with an offset as `±HH`, `±HHMM` or `±HH:MM`.
 * @throws MongoError 40485 if the name is neither.
 */
export function findZone(name: string): Zone {
  const known = zones.get(name);
  if (known !== undefined) {
    return known;
  }
  const zone = offsetZone(name) ?? olsonZone(name);
  if (zones.size < zonesMax) {
    zones.set(name, zone);
  }
  return zone;
}

function offsetZone(name: string): Zone | undefined {
  const match = /^([+-])(\d\d)(?::?(\d\d))?$/.exec(name);
  if (match === null) {
    return undefined;
  }
  const [, sign, hours, minutes = '0'] = match;
  const offset = (Number(hours) * 60 + Number(minutes)) * 60_000 * (sign === '-' ? -1 : 1);
  return { isUtc: offset === 0, offsetAt: () => offset };
}

const slotMillis = 900_000;
const slotsMax = 100_000;

/**
 * An ICU lookup takes microseconds, so the offset is cached for each quarter-hour. A zone changes
 * its offset only at quarter-hour boundaries.
 */
function olsonZone(name: string): Zone {
  const format = zoneFormat(name);
  const offsets = new Map<number, number>();
  return {
    isUtc: false,
    offsetAt: (utcMillis) => {
      const slot = Math.floor(utcMillis / slotMillis);
      let offset = offsets.get(slot);
      if (offset === undefined) {
        offset = icuOffset(format, slot * slotMillis);
        if (offsets.size < slotsMax) {
          offsets.set(slot, offset);
        }
      }
      return offset;
    },
  };
}

function icuOffset(format: Intl.DateTimeFormat, utcMillis: number): number {
  const text = format.formatToParts(utcMillis).find((part) => part.type === 'timeZoneName')?.value ?? '';
  const [, sign, hours = '0', minutes = '0', seconds = '0'] =
    /([+\-\u2212])(\d{1,2}):?(\d\d)?:?(\d\d)?/.exec(text) ?? [];
  const offset = (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) * 1000;
  return sign === '+' ? offset : -offset;
}

function zoneFormat(name: string): Intl.DateTimeFormat {
  // MongoDB treats zone names as case-sensitive, and ICU does not.
  if (/^[A-Z]/.test(name) && !/^[A-Z][a-z]*\/[a-z]/.test(name)) {
    try {
      return new Intl.DateTimeFormat('en-US', { timeZone: name, timeZoneName: 'longOffset' });
    } catch (error) {
      if (!(error instanceof RangeError)) {
        throw error;
      }
    }
  }
  throw new MongoError(40485, `unrecognized time zone identifier: "${name}"`);
}
