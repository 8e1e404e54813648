import { createHash, randomBytes } from 'node:crypto';
import { Long } from 'mongodb';

/** How what is hashed is read: an int64 stays recognisable as such, so that a double in its place is seen. */
export const exactReadOptions = { promoteLongs: false, batchSize: 1_000 } as const;

/**
 * One text for one stored value, for hashing: what differs in value or in type differs in text. Fields are named by the
 * caller and come in its order, so that a field added to a collection later changes no hash.
 */
export function toCanonicalText(value: unknown): string {
  if (value === null || value === undefined) {
    return 'null';
  }
  if (typeof value === 'string') {
    return JSON.stringify(value);
  }
  if (Long.isLong(value)) {
    return value.toString();
  }
  if (value instanceof Date) {
    return `@${value.getTime()}`;
  }
  if (Array.isArray(value)) {
    return `[${value.map(toCanonicalText).join(',')}]`;
  }
  // A number that is no int64, a boolean, or what should not be there at all.
  return `${typeof value}:${JSON.stringify(value)}`;
}

/** The named fields of a document, or `null` where there is no document. */
export function toFieldsText<T extends object>(
  document: T | null | undefined,
  fields: readonly (keyof T)[],
): string {
  return document ? toCanonicalText(fields.map((field) => document[field])) : 'null';
}

/**
 * A document with fields that are masked some day (decision 044). A close hashes such a field through its proof, so that
 * it can go without the close losing what it proves.
 */
export interface Maskable {
  /** Random; it makes the proofs, and goes with the fields: afterwards no proof can be tried against a number. Absent: the fields are hashed as they are. */
  proofSalt?: string;
  /** The proofs of the fields that were masked. */
  proofs?: Record<string, string>;
}

export function createProofSalt(): string {
  return randomBytes(16).toString('base64url');
}

/** What is left of a field that is masked. Lower-case hex. */
export function getProof(salt: string, field: string, value: unknown): string {
  return createHash('sha256')
    .update(`${salt} ${field} ${toCanonicalText(value)}`)
    .digest('hex');
}

/** As `fieldsText`; of the fields named in `maskable` the proofs, where the document has any. */
export function toProvenFieldsText<T extends Maskable>(
  document: T | null | undefined,
  fields: readonly (keyof T & string)[],
  maskable: readonly (keyof T & string)[],
): string {
  const valueOf = (of: T, field: keyof T & string): unknown => {
    const proof = of.proofs?.[field];
    if (!maskable.includes(field)) {
      return of[field];
    }
    return proof ?? (of.proofSalt === undefined ? of[field] : getProof(of.proofSalt, field, of[field]));
  };
  return document ? toCanonicalText(fields.map((field) => valueOf(document, field))) : 'null';
}
