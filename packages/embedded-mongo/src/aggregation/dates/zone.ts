import { MongoError } from '../../errors.js';

/** A time zone: its offset from UTC at an instant, in ms (positive to the east). */
export interface Zone {
  readonly isUtc: boolean;
  readonly offsetAt: (utcMillis: number) => number;
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

/**
 * Asking ICU for an offset takes microseconds, so answers are kept by block of time: the offset at its
 * start, and where a change falls into the block, the instant of the change and the offset after it.
 */
interface Block {
  readonly before: number;
  readonly change: number;
  readonly after: number;
}

// Short enough that no zone changes its offset twice in a block.
const blockMillis = 4 * 86_400_000;
const blocksMax = 50_000;

function olsonZone(name: string): Zone {
  const ask = icuOffsets(name);
  const blocks = new Map<number, Block>();
  const findBlock = (index: number): Block => {
    const start = index * blockMillis;
    const [before, after] = [ask(start), ask(start + blockMillis)];
    const change = before === after ? Infinity : changeBetween(ask, start, start + blockMillis);
    const block = { before, change, after };
    if (blocks.size < blocksMax) {
      blocks.set(index, block);
    }
    return block;
  };
  return {
    isUtc: false,
    offsetAt: (utcMillis) => {
      const index = Math.floor(utcMillis / blockMillis);
      const block = blocks.get(index) ?? findBlock(index);
      return utcMillis < block.change ? block.before : block.after;
    },
  };
}

/** The first second at which the offset differs from that at the start. */
function changeBetween(ask: (utcMillis: number) => number, start: number, end: number): number {
  const before = ask(start);
  let [low, high] = [start / 1000, end / 1000];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (ask(middle * 1000) === before) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return high * 1000;
}

function icuOffsets(name: string): (utcMillis: number) => number {
  const format = zoneFormat(name);
  return (utcMillis) => {
    const parts = format.formatToParts(utcMillis);
    const text = parts.find((part) => part.type === 'timeZoneName')?.value ?? '';
    const match = /([+\-\u2212])(\d{1,2}):?(\d\d)?:?(\d\d)?/.exec(text);
    if (match === null) {
      return 0;
    }
    const [, sign, hours, minutes = '0', seconds = '0'] = match;
    const offset = (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) * 1000;
    return sign === '+' ? offset : -offset;
  };
}

function zoneFormat(name: string): Intl.DateTimeFormat {
  // MongoDB's names are case-sensitive, ICU's are not.
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

const dayMillis = 86_400_000;

/**
 * The instant of a local time (given as if it were UTC). A time that a change skips is read with the
 * offset before it; one that occurs twice is the earlier instant.
 */
export function localToUtc(localMillis: number, zone: Zone): number {
  const current = zone.offsetAt(localMillis);
  const after = zone.offsetAt(localMillis - current);
  if (current === after) {
    return localMillis - current;
  }
  const dayBefore = secondsFloor(localMillis - current - dayMillis);
  if (zone.offsetAt(dayBefore) === after) {
    return localMillis - after;
  }
  const change = changeBetween(zone.offsetAt, dayBefore, secondsFloor(localMillis - current) + 1000);
  const inChange = localMillis - after >= change + (current - after) && localMillis - after < change;
  return localMillis - (inChange ? current : after);
}

function secondsFloor(millis: number): number {
  return Math.floor(millis / 1000) * 1000;
}
