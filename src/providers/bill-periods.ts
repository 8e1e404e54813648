import { findName, monthNames } from '../shared/month-names.js';

/** Months are counted from the year 0, so that a range is a range of numbers. */
type Month = number;

interface PartialMonth {
  month: number;
  /** Null if the year follows later in the text, as in `JAN,FEB 2026`. */
  year: number | null;
}

/** More months than this are no bill. */
const monthsMax = 120;

const separatorPattern =
  /[,;&+|\n]|(?<=[\s\d])(?:dan|and)(?=[\s\d])|(?<=\d) ?\/ ?(?=[a-z])|(?<=20\d{4}) ?\/ ?(?=20\d{4})/;
const rangePattern = /^(.+?)\s*(?:[–—~]|\s-\s|(?<![a-z])(?:s\.?\/?d\.?|sampai|hingga|to)(?![a-z]))\s*(.+)$/;
const yearText = String.raw`(?:(?<year>20\d{2})|'?(?<short>\d{2}))`;
const namedPattern = new RegExp(String.raw`^(?<name>[a-z]+)\.?(?:[\s/-]*${yearText})?$`);
const yearFirstPattern = /^(?<year>20\d{2})[\s/-]*(?<name>[a-z]+)\.?$/;
const digitPatterns = [
  /^(?<year>20\d{2})[\s/.-]?(?<number>0[1-9]|1[0-2])$/,
  /^(?<number>0[1-9]|1[0-2])[\s/.-]?(?<year>20\d{2})$/,
];

/**
 * Returns the months that a provider's text names, as YYYY-MM, oldest first. Billers write `201901`,
 * `01/2019`, `NOP 25`, `AGS 24,SEP 24` or `JAN 19 - MAR 19`. Null if any part is not understood.
 */
export function readBillPeriods(text: string): string[] | null {
  const wanted = text.trim().toLowerCase().replaceAll(/\s+/g, ' ');
  const months = readMonths(wanted);
  if (months === null || months.length === 0) {
    return null;
  }
  return [...new Set(months)].sort((a, b) => a - b).map(formatMonth);
}

function readMonths(text: string): Month[] | null {
  // A month without a year has the year of the next month that has one, and must not be after it.
  const months: Month[] = [];
  let next = null as PartialMonth | null;
  for (const range of splitList(text).map(readPart).reverse()) {
    const ends: Month[] = [];
    for (const end of range?.toReversed() ?? []) {
      const year = end.year ?? next?.year ?? null;
      if (year === null || (end.year === null && next !== null && end.month > next.month)) {
        return null;
      }
      next = { month: end.month, year };
      ends.unshift(year * 12 + end.month);
    }
    const expanded = expandRange(ends);
    if (expanded === null || months.length + expanded.length > monthsMax) {
      return null;
    }
    months.push(...expanded);
  }
  return months;
}

function splitList(text: string): string[] {
  const parts = text.split(separatorPattern).map((part) => part.trim());
  return parts.flatMap((part) => {
    const words = part.split(' ');
    // A list may have only spaces: `201901 201902` or `AGS 24 SEP 24`.
    const pairs = part.match(/[a-z]+\.? '?\d+|\S+/g) ?? [];
    const isList = (all: string[]) => all.length > 1 && all.every((each) => readSingle(each)?.year);
    return isList(words) ? words : isList(pairs) ? pairs : [part];
  });
}

/** Returns one month, or the first and the last month of a range. */
function readPart(text: string): PartialMonth[] | null {
  const single = readSingle(text);
  if (single) {
    return [single];
  }
  for (const [from = '', until = ''] of findRanges(text)) {
    const first = readSingle(from);
    const last = readSingle(until);
    if (first && last) {
      return [first, last];
    }
  }
  return null;
}

/** A hyphen may belong to a month, as in `2019-01`. So each one is tried as the sign of a range. */
function findRanges(text: string): string[][] {
  const spelled = rangePattern.exec(text);
  const hyphens = [...text.matchAll(/-/g)].map(({ index }) => [
    text.slice(0, index).trim(),
    text.slice(index + 1).trim(),
  ]);
  return [...(spelled ? [[spelled[1] ?? '', spelled[2] ?? '']] : []), ...hyphens];
}

function readSingle(text: string): PartialMonth | null {
  for (const pattern of digitPatterns) {
    const { year, number } = pattern.exec(text)?.groups ?? {};
    if (year !== undefined && number !== undefined) {
      return { month: Number(number) - 1, year: Number(year) };
    }
  }
  const { name, year, short } = (namedPattern.exec(text) ?? yearFirstPattern.exec(text))?.groups ?? {};
  const month = name === undefined ? -1 : findName(monthNames, name);
  if (month < 0) {
    return null;
  }
  const written = year ?? (short === undefined ? null : `20${short}`);
  return { month, year: written === null ? null : Number(written) };
}

function expandRange(ends: Month[]): Month[] | null {
  const [first, last = first] = ends;
  if (first === undefined || last === undefined || last < first || last - first >= monthsMax) {
    return null;
  }
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}

function formatMonth(month: Month): string {
  return `${String(Math.floor(month / 12))}-${String((month % 12) + 1).padStart(2, '0')}`;
}
