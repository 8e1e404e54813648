import { MongoError } from '../errors.js';
import { isNumeric, type Doc } from '../values/types.js';
import { docField } from './fields.js';

const LEVELS = new Set(['local', 'available', 'majority', 'linearizable', 'snapshot']);
const TRANSACTION_LEVELS = new Set(['local', 'majority', 'snapshot']);
const SNAPSHOT_COMMANDS = new Set(['find', 'aggregate', 'distinct']);

/** Checks a command's readConcern. On a single member every level reads what is newest, but they must be legal. */
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

/** The error of a write concern that a deployment of one member can't satisfy, or null. The write itself is done. */
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
