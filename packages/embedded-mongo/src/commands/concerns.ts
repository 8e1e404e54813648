import { MongoError } from '../errors.js';
import { isDoc, isNumeric, type Doc } from '../values/types.js';
import { docField } from './fields.js';

const LEVELS = new Set(['local', 'available', 'majority', 'linearizable', 'snapshot']);
const TRANSACTION_LEVELS = new Set(['local', 'majority', 'snapshot']);
const SNAPSHOT_COMMANDS = new Set(['find', 'aggregate', 'distinct']);

/** Checks a command's readConcern. */
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
 * The error for a write concern that one member can't satisfy, or null. The write itself takes
 * effect.
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
 * True if the reply must wait until a majority has the writes (the default for writes) or the data
 * that was read.
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

/** How long a write waits for the majority, in milliseconds. Infinity without a limit. */
export function majorityWaitMs(command: Doc): number {
  const limits = [docField(command, 'writeConcern')?.['wtimeout'], command['maxTimeMS']];
  return Math.min(
    ...limits.map((limit) => (isNumeric(limit) && Number(limit) > 0 ? Number(limit) : Infinity)),
  );
}

/** The error for a write that did not reach the majority in time. The write itself takes effect. */
export function majorityTimeout(command: Doc): Doc {
  const wtimeout = Number(docField(command, 'writeConcern')?.['wtimeout'] ?? 0);
  return {
    code: 64,
    codeName: 'WriteConcernTimeout',
    errmsg: 'waiting for replication timed out',
    errInfo: { wtimeout: true, writeConcern: { w: 'majority', wtimeout, provenance: 'clientSupplied' } },
  };
}
