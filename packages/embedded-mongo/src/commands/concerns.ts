import { MongoError } from '../errors.js';
import { isDoc, isNumeric, type Doc } from '../values/types.js';
import { docField } from './fields.js';

const LEVELS = new Set(['local', 'available', 'majority', 'linearizable', 'snapshot']);
const TRANSACTION_LEVELS = new Set(['local', 'majority', 'snapshot']);
const SNAPSHOT_COMMANDS = new Set(['find', 'aggregate', 'distinct']);

/** Checks the `readConcern` of a command. */
export function checkReadConcern(
  command: Doc,
  { name, transaction }: { name: string; transaction: 'none' | 'starting' | 'continued' },
): void {
  const concern = docField(command, 'readConcern');
  if (concern === undefined) {
    return;
  }
  const level = concern['level'];
  if (level !== undefined && (typeof level !== 'string' || !LEVELS.has(level))) {
    throw new MongoError(9, `Read concern level must be one of ${[...LEVELS].join(', ')}`);
  }
  switch (transaction) {
    case 'continued':
      throw new MongoError(72, 'Only the first command in a transaction may specify a readConcern');
    case 'starting':
      if (typeof level === 'string' && !TRANSACTION_LEVELS.has(level)) {
        throw new MongoError(72, `The readConcern level ${level} is not allowed in a transaction`);
      }
      return;
    case 'none':
      if (level === 'snapshot' && !SNAPSHOT_COMMANDS.has(name)) {
        throw new MongoError(72, `Command ${name} does not support readConcern level snapshot`);
      }
  }
}

/**
 * Returns the error for a write concern that a replica set with one member cannot satisfy, or null.
 * The write takes effect in either case.
 */
export function writeConcernErrorFor(command: Doc): Doc | null {
  const concern = docField(command, 'writeConcern');
  const w = concern?.['w'];
  if (isNumeric(w) && Number(w) > 1) {
    return {
      code: 100,
      codeName: 'UnsatisfiableWriteConcern',
      errmsg: 'Not enough data-bearing nodes',
      errInfo: { writeConcern: { w, wtimeout: 0, provenance: 'clientSupplied' } },
    };
  }
  if (typeof w === 'string' && w !== 'majority') {
    return {
      code: 79,
      codeName: 'UnknownReplWriteConcern',
      errmsg: `No write concern mode named '${w}' found in replica set configuration`,
      errInfo: { writeConcern: { w, wtimeout: 0, provenance: 'clientSupplied' } },
    };
  }
  return null;
}

/**
 * True if the reply must wait for a majority. By default this applies to writes, and with read
 * concern `linearizable` also to reads.
 */
export function requiresMajorityAck(
  command: Doc,
  { name, writes }: { name: string; writes: boolean },
): boolean {
  if (docField(command, 'readConcern')?.['level'] === 'linearizable') {
    return true;
  }
  if (!writes || (name === 'aggregate' && !isWritingPipeline(command['pipeline']))) {
    return false;
  }
  const w = docField(command, 'writeConcern')?.['w'];
  return w === undefined || w === 'majority';
}

function isWritingPipeline(pipeline: unknown): boolean {
  const last: unknown = Array.isArray(pipeline) ? pipeline.at(-1) : undefined;
  return isDoc(last) && ('$out' in last || '$merge' in last);
}

/**
 * Returns how many milliseconds a write waits for the majority. Infinity if the command sets no
 * limit.
 */
export function majorityWaitMs(command: Doc): number {
  const limits = [docField(command, 'writeConcern')?.['wtimeout'], command['maxTimeMS']];
  return Math.min(
    ...limits.map((limit) => (isNumeric(limit) && Number(limit) > 0 ? Number(limit) : Infinity)),
  );
}

/**
 * Returns the error for a write that did not reach the majority within the time limit. The write
 * still takes effect.
 */
export function majorityTimeout(command: Doc): Doc {
  const wtimeout = Number(docField(command, 'writeConcern')?.['wtimeout'] ?? 0);
  return {
    code: 64,
    codeName: 'WriteConcernTimeout',
    errmsg: 'waiting for replication timed out',
    errInfo: { wtimeout: true, writeConcern: { w: 'majority', wtimeout, provenance: 'clientSupplied' } },
  };
}
