import { createHash, randomBytes } from 'node:crypto';
import { Long } from 'mongodb';

/**
 * Read options for documents that are hashed. An int64 is read as a Long, so that a double stored
 * instead of an int64 changes the text.
 */
export const exactReadOptions = { promoteLongs: false, batchSize: 1_000 } as const;

/**
 * Returns the text of a stored value for hashing. Different values or types have different texts.
 * The caller names the fields in a fixed order, so a field that is added to a collection later
 * changes no hash.
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
  // The value is a number that is not an int64, a boolean, or of an unexpected type.
  return `${typeof value}:${JSON.stringify(value)}`;
}

/** Returns the text of the named fields of a document, or `null` if there is no document. */
export function toFieldsText<T extends object>(
  document: T | null | undefined,
  fields: readonly (keyof T)[],
): string {
  return document ? toCanonicalText(fields.map((field) => document[field])) : 'null';
}

/**
 * A document with fields that retention masks (decision 044). A close hashes such a field through
 * its proof, so that masking does not invalidate the close.
 */
export interface Maskable {
  /**
   * Random salt of the proofs. Masking deletes it with the fields, so no proof can be brute-forced
   * afterwards. If absent, the fields are hashed directly.
   */
  proofSalt?: string;
  /** Proofs of the masked fields, keyed by field. */
  proofs?: Record<string, string>;
}

export function createProofSalt(): string {
  return randomBytes(16).toString('base64url');
}

/** Returns the proof that replaces a masked field in hashes, in lower-case hex. */
export function getProof(salt: string, field: string, value: unknown): string {
  return createHash('sha256')
    .update(`${salt} ${field} ${toCanonicalText(value)}`)
    .digest('hex');
}

/**
 * Like `toFieldsText`. If the document has a salt or proofs, proofs replace the fields named in
 * `maskable`.
 */
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
