import type { Doc } from '../values/types.js';
import { decode } from '../values/decode.js';
import type { Reader } from './reader.js';

/**
 * All versions of one document: the newest committed version, older versions that a snapshot still
 * needs, and at most one uncommitted version.
 */
export interface StoredRecord {
  /** The position in insertion order. Collection scans use this order. */
  readonly number: number;
  /** The key string of the `_id`. */
  readonly idKey: string;
  /** The newest committed version. Null before the first commit. */
  version: Version | null;
  /** The uncommitted version. Only `owner` sees it. */
  pending: Version | null;
  /** The transaction that holds the lock of the record, or null. */
  owner: Reader | null;
}

/**
 * The state of a record after one commit. Only `previous` changes: it is removed when no reader
 * needs the older versions any more.
 */
export interface Version {
  /** The number of the commit that created the version. Zero while the version is uncommitted. */
  timestamp: number;
  /** The BSON encoding of the document. Null if the document was deleted. */
  readonly bytes: Buffer | null;
  /** The decoded document if it is cached. It must not be changed. */
  doc: Doc | null;
  previous: Version | null;
}

let lastNumber = 0;

export function createRecord(idKey: string): StoredRecord {
  lastNumber += 1;
  return { number: lastNumber, idKey, version: null, pending: null, owner: null };
}

/** Creates a version. `bytes` is null if the document is deleted. */
export function createVersion(bytes: Buffer | null): Version {
  return { timestamp: 0, bytes, doc: null, previous: null };
}

/**
 * Returns the document of a version. Callers must not change it. Throws if the version is a
 * deletion.
 */
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

/** Caches the decoded document of a version that will probably be read soon. */
export function cacheDocument(version: Version, doc: Doc): void {
  if (version.bytes !== null) {
    keepDecoded(version, version.bytes, doc);
  }
}

/**
 * A decoded document takes several times the memory of its bytes, so only recently decoded
 * documents are cached. The cache has two generations. When the newer one is full, the older one is
 * dropped.
 */
const KEPT_BYTES_MAX = 16 << 20;
let newer: Version[] = [];
let older: Version[] = [];
let newerBytes = 0;

function keepDecoded(version: Version, bytes: Buffer, doc: Doc): void {
  version.doc = doc;
  newer.push(version);
  // The constant approximates the memory of the objects, so that very small documents also fill the
  // cache.
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
