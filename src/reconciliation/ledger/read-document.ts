import { Long, type Document, type FindOptions } from 'mongodb';
import type { LedgerFinding } from './ledger-report.js';

/** Read options that keep int64 distinguishable from a double. */
export const rawReadOptions: FindOptions = { promoteLongs: false };

const invalid = Symbol('odd');

/** The expected type of a stored field. */
export interface Field<T> {
  read(value: unknown): T | typeof invalid;
  /** Returns a safe replacement for an invalid value, so that no check throws. */
  instead(value: unknown): T;
  isMoney?: true;
}

/** The fields of a document that the verification reads; it ignores other fields. */
export type Shape<T> = { readonly [Name in keyof T]: Field<T[Name]> };

/** Names a document in findings about its fields. */
export interface DocumentName {
  /** Subject of a finding, such as `attempt 01a1…-1`. */
  about: string;
  /** Id of the subject, for a finding about money. */
  subject: string;
  /** Owner of the field, for a finding about money. */
  what: string;
}

/**
 * Reads a stored document by its shape. An invalid field is a finding, never an error, and the
 * checks continue with a safe replacement.
 */
export function readDocument<T extends object>(
  raw: Document,
  shape: Shape<T>,
  { named, problems }: { named: () => DocumentName; problems: LedgerFinding[] },
): T {
  const document: Record<string, unknown> = {};
  for (const name in shape) {
    const field: Field<T[typeof name]> = shape[name];
    const value: unknown = raw[name];
    const read = field.read(value);
    if (read === invalid) {
      problems.push(
        buildInvalidFieldFinding(name, value, { named: named(), isMoney: field.isMoney === true }),
      );
    }
    document[name] = read === invalid ? field.instead(value) : read;
  }
  return document as T;
}

export function buildInvalidFieldFinding(
  name: string,
  value: unknown,
  { named, isMoney }: { named: DocumentName; isMoney: boolean },
): LedgerFinding {
  return isMoney
    ? {
        check: 'stored-as-int64',
        subject: named.subject,
        message: `${named.what} ${name} is not stored as a safe int64`,
      }
    : { check: 'documents', subject: named.about, message: `its ${name} is ${describeValue(value)}` };
}

const shownMax = 80;

/** Formats an unexpected value so that a person can search for it. */
export function describeValue(value: unknown): string {
  if (value === undefined) {
    return 'missing';
  }
  const text = Long.isLong(value) ? value.toString() : JSON.stringify(value);
  return text.length > shownMax ? `${text.slice(0, shownMax)}…` : text;
}

/** Returns rupiah; NaN if the value is not a number. */
function toNumber(value: unknown): number {
  return Long.isLong(value) ? value.toNumber() : typeof value === 'number' ? value : Number.NaN;
}

function toNullable<T>(field: Field<T>): Field<T | null> {
  return {
    ...field,
    read: (value) => (value === null || value === undefined ? null : field.read(value)),
  };
}

/** A non-empty string: ids, references, names. */
export const text: Field<string> = {
  read: (value) => (typeof value === 'string' && value !== '' ? value : invalid),
  instead: describeValue,
};
/**
 * A string or null. A missing field counts as null, because old documents lack fields that were
 * added later.
 */
export const textOrNull: Field<string | null> = toNullable({
  read: (value) => (typeof value === 'string' ? value : invalid),
  instead: describeValue,
});
export const money: Field<number> = {
  read(value) {
    const number = toNumber(value);
    return Long.isLong(value) && Number.isSafeInteger(number) ? number : invalid;
  },
  instead: toNumber,
  isMoney: true,
};
export const moneyOrNull = toNullable(money);
export const wholeNumber: Field<number> = {
  read: (value) => (Number.isSafeInteger(toNumber(value)) ? toNumber(value) : invalid),
  instead: () => Number.NaN,
};
/** A fraction from 0 to 1. */
export const rate: Field<number> = {
  read: (value) => (typeof value === 'number' && value >= 0 && value <= 1 ? value : invalid),
  instead: () => Number.NaN,
};
export const flag: Field<boolean> = {
  read: (value) => (typeof value === 'boolean' ? value : invalid),
  instead: () => false,
};

export const flagOrNull = toNullable(flag);
export const time: Field<Date> = {
  read: (value) => (value instanceof Date && !Number.isNaN(value.getTime()) ? value : invalid),
  instead: () => new Date(0),
};
export const timeOrNull = toNullable<Date | null>({ ...time, instead: () => null });

/** One of a list of words, such as a status. Null if the value is not in the list. */
export function oneOf<T extends string>(words: readonly T[]): Field<T | null> {
  const known = new Set<unknown>(words);
  return { read: (value) => (known.has(value) ? (value as T) : invalid), instead: () => null };
}

/** A nested document whose fields are all non-empty strings. */
export function readFilledObject<T extends object>(fields: readonly (keyof T & string)[]): Field<T | null> {
  return {
    read: (value) =>
      typeof value === 'object' && value !== null && fields.every((each) => isFilled((value as T)[each]))
        ? (value as T)
        : invalid,
    instead: () => null,
  };
}

function isFilled(value: unknown): boolean {
  return typeof value === 'string' && value !== '';
}

export const anyValue: Field<unknown> = { read: (value) => value, instead: (value) => value };
