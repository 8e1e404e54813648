import type { Doc } from '../values/types.js';
import { decode } from '../values/decode.js';
import type { Reader } from './reader.js';

/** One document through time: the newest committed version, older ones that a snapshot still sees, and a pending one. */
export interface StoredRecord {
  /** Age: records are scanned in this order. */
  readonly number: number;
  /** Key string of `_id`. */
  readonly idKey: string;
  version: Version | null;
  /** Written by `owner`, which has not committed yet. */
  pending: Version | null;
  owner: Reader | null;
}

/** What a record was from one commit on. Immutable except for `previous`, which is cut when nobody can see it any more. */
export interface Version {
  /** The commit that made it; 0 while it is pending. */
  timestamp: number;
  /** BSON as stored, or null for a deletion. */
  readonly bytes: Buffer | null;
  /** The decoded bytes while they are kept; never changed in place. */
  doc: Doc | null;
  previous: Version | null;
}

let lastNumber = 0;

export function createRecord(idKey: string): StoredRecord {
  lastNumber += 1;
  return { number: lastNumber, idKey, version: null, pending: null, owner: null };
}

/** A version of these bytes; null for a deletion. */
export function createVersion(bytes: Buffer | null): Version {
  return { timestamp: 0, bytes, doc: null, previous: null };
}

/** The document of a version that is no deletion. Callers must not change it. */
export function docOf(version: Version): Doc {
  if (version.doc !== null) {
    return version.doc;
  }
  if (version.bytes === null) {
    throw new TypeError('a deletion has no document');
  }
  const doc = decode(version.bytes);
  keepDecoded(version, version.bytes, doc);
  return doc;
}

/** Keeps the decoded form of a version that is likely to be read again soon. */
export function keepDoc(version: Version, doc: Doc): void {
  if (version.bytes !== null) {
    keepDecoded(version, version.bytes, doc);
  }
}

/**
 * Decoded copies cost several times their bytes, so only the latest are kept: two generations, the older of which is
 * dropped whenever the newer one is full.
 */
const KEPT_BYTES_MAX = 16 << 20;
let newer: Version[] = [];
let older: Version[] = [];
let newerBytes = 0;

function keepDecoded(version: Version, bytes: Buffer, doc: Doc): void {
  version.doc = doc;
  newer.push(version);
  // A constant for the objects themselves, so that tiny documents are counted too.
  newerBytes += bytes.length + 64;
  if (newerBytes > KEPT_BYTES_MAX) {
    for (const dropped of older) {
      dropped.doc = null;
    }
    older = newer;
    newer = [];
    newerBytes = 0;
  }
}
