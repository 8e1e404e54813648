import { MongoError } from '../../errors.js';

/** A time zone. Its offset from UTC is in milliseconds, positive to the east. */
export interface Zone {
  readonly isUtc: boolean;
  readonly offsetAt: (utcMillis: number) => number;
}

/** A date whose UTC fields are the local time of an instant in a zone. */
export function localDate(utcMillis: number, zone: Zone): Date {
  return new Date(utcMillis + zone.offsetAt(utcMillis));
}

export const UTC: Zone = { isUtc: true, offsetAt: () => 0 };

const zones = new Map<string, Zone>([['UTC', UTC]]);
const zonesMax = 1000;

/** The zone of an Olson name or of `±HH`, `±HHMM` or `±HH:MM`. Error 40485. */
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
 * An ICU lookup takes microseconds, so offsets are cached per quarter of an hour. Offsets change
 * only at quarter hours.
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
  // MongoDB's zone names are case-sensitive; ICU's are not.
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
