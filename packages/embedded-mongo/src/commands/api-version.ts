import { MongoError } from '../errors.js';
import type { Doc } from '../values/types.js';
import { boolField } from './fields.js';

const VERSION_1 = new Set([
  'abortTransaction',
  'aggregate',
  'collMod',
  'commitTransaction',
  'count',
  'create',
  'createIndexes',
  'delete',
  'drop',
  'dropDatabase',
  'dropIndexes',
  'endSessions',
  'explain',
  'find',
  'findAndModify',
  'getMore',
  'hello',
  'insert',
  'killCursors',
  'killSessions',
  'listCollections',
  'listDatabases',
  'listIndexes',
  'ping',
  'refreshSessions',
  'update',
]);

/** Checks the API version that a client declares. Throws MongoError 9, 322 or 323. */
export function checkApiVersion(name: string, command: Doc): void {
  const { apiVersion } = command;
  if (apiVersion === undefined) {
    if (command['apiStrict'] !== undefined || command['apiDeprecationErrors'] !== undefined) {
      throw new MongoError(9, 'Provided apiStrict and/or apiDeprecationErrors without passing apiVersion');
    }
    return;
  }
  if (apiVersion !== '1') {
    throw new MongoError(322, 'API version must be "1"');
  }
  if (boolField(command, 'apiStrict') && !VERSION_1.has(name)) {
    throw new MongoError(323, `Provided apiStrict:true, but the command ${name} is not in API Version 1`);
  }
}
