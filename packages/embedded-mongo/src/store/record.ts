import type { Doc } from '../values/types.js';
import { decode } from '../values/decode.js';
import type { Reader } from './reader.js';

/**
 * All versions of one document: the newest committed one, older ones that a snapshot still sees,
 * and a pending one.
 */
export interface StoredRecord {
  /** Insertion order, in which records are scanned. */
  readonly number: number;
  /** Key string of `_id`. */
  readonly idKey: string;
  version: Version | null;
  /** The uncommitted version, written by `owner`. */
  pending: Version | null;
  owner: Reader | null;
}

/**
 * The state of a record since one commit. Immutable except for `previous`, which is cut when no
 * reader can see it.
 */
export interface Version {
  /** The commit that created it; 0 while it is pending. */
  timestamp: number;
  /** BSON as stored, or null for a deletion. */
  readonly bytes: Buffer | null;
  /** Cached decoded document. It is never changed in place. */
  doc: Doc | null;
  previous: Version | null;
}

let lastNumber = 0;

export function createRecord(idKey: string): StoredRecord {
  lastNumber += 1;
  return { number: lastNumber, idKey, version: null, pending: null, owner: null };
}

/** Creates a version with these bytes; null for a deletion. */
export function createVersion(bytes: Buffer | null): Version {
  return { timestamp: 0, bytes, doc: null, previous: null };
}

/** The document of a version that is not a deletion. Callers must not change it. */
export function getDocument(version: Version): Doc {
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

/** Caches the decoded form of a version that is likely to be read soon. */
export function cacheDocument(version: Version, doc: Doc): void {
  if (version.bytes !== null) {
    keepDecoded(version, version.bytes, doc);
  }
}

/**
 * Decoded documents need several times the memory of their bytes, so only the latest are cached.
 * There are two generations: when the newer one is full, the older one is dropped.
 */
const KEPT_BYTES_MAX = 16 << 20;
let newer: Version[] = [];
let older: Version[] = [];
let newerBytes = 0;

function keepDecoded(version: Version, bytes: Buffer, doc: Doc): void {
  version.doc = doc;
  newer.push(version);
  // The constant accounts for the objects themselves, so that tiny documents count too.
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
