import { MongoError } from '../errors.js';
import { aggregate } from './aggregate.js';
import {
  create,
  CREATE_FIELDS,
  drop,
  dropDatabase,
  listCollections,
  listDatabases,
  renameCollection,
} from './collections.js';
import type { CommandDefinition } from './context.js';
import { count } from './count.js';
import { getMore, killCursors } from './cursors.js';
import { deleteCommand } from './delete.js';
import {
  replyOk,
  buildInfo,
  collStats,
  configureFailPoint,
  connectionStatus,
  dbStats,
  getParameter,
  rejectUnsupportedCommand,
  serverStatus,
  setParameter,
  whatsMyUri,
} from './diagnostics.js';
import { distinct } from './distinct.js';
import { explain } from './explain.js';
import type { FieldType } from './fields.js';
import { find } from './find.js';
import { findAndModify } from './find-and-modify.js';
import { hello } from './hello.js';
import { createIndexes, dropIndexes, listIndexes } from './indexes.js';
import { insert } from './insert.js';
import { replSetStepDown } from './step-down.js';
import { abortTransaction, commitTransaction, endSessions, killAllSessions } from './transactions.js';
import { update } from './update.js';

type Fields = Readonly<Record<string, FieldType>>;

const WRITE: Fields = { ordered: 'bool', bypassDocumentValidation: 'bool', let: 'object' };
const FIND_AND_MODIFY: Fields = {
  ...WRITE,
  query: 'object',
  sort: 'object',
  remove: 'bool',
  update: 'objectOrArray',
  new: 'bool',
  fields: 'object',
  upsert: 'bool',
  collation: 'object',
  arrayFilters: 'array',
  hint: 'objectOrString',
};
const FIND_FIELDS: Fields = {
  filter: 'object',
  projection: 'object',
  sort: 'object',
  hint: 'objectOrString',
  skip: 'natural',
  limit: 'natural',
  batchSize: 'natural',
  singleBatch: 'bool',
  max: 'object',
  min: 'object',
  returnKey: 'bool',
  showRecordId: 'bool',
  tailable: 'bool',
  oplogReplay: 'bool',
  noCursorTimeout: 'bool',
  awaitData: 'bool',
  allowPartialResults: 'bool',
  collation: 'object',
  allowDiskUse: 'bool',
  let: 'object',
};

/** Commands that are refused although mongosh or drivers may send them. */
const REFUSED = [
  'authenticate',
  'bulkWrite',
  'collMod',
  'createSearchIndexes',
  'createUser',
  'dropSearchIndex',
  'mapReduce',
  'saslContinue',
  'saslStart',
  'startSession',
  'updateSearchIndex',
];

const DEFINITIONS: ReadonlyMap<string, CommandDefinition> = new Map(
  Object.entries<CommandDefinition>({
    insert: { handle: insert, fields: { ...WRITE, documents: 'array' }, inTransaction: true, writes: true },
    update: { handle: update, fields: { ...WRITE, updates: 'array' }, inTransaction: true, writes: true },
    delete: {
      handle: deleteCommand,
      fields: { ...WRITE, deletes: 'array' },
      inTransaction: true,
      writes: true,
    },
    findAndModify: { handle: findAndModify, fields: FIND_AND_MODIFY, inTransaction: true, writes: true },
    findandmodify: { handle: findAndModify, fields: FIND_AND_MODIFY, inTransaction: true, writes: true },
    find: { handle: find, fields: FIND_FIELDS, inTransaction: true, reads: true },
    getMore: { handle: getMore, fields: { collection: 'string', batchSize: 'natural' }, inTransaction: true },
    killCursors: { handle: killCursors, fields: { cursors: 'array' }, inTransaction: true },
    aggregate: {
      handle: aggregate,
      fields: {
        pipeline: 'array',
        explain: 'bool',
        allowDiskUse: 'bool',
        cursor: 'object',
        bypassDocumentValidation: 'bool',
        collation: 'object',
        hint: 'objectOrString',
        let: 'object',
      },
      inTransaction: true,
      writes: true,
      reads: true,
    },
    count: {
      handle: count,
      fields: {
        query: 'object',
        limit: 'number',
        skip: 'natural',
        hint: 'objectOrString',
        collation: 'object',
        fields: 'object',
      },
      reads: true,
    },
    distinct: {
      handle: distinct,
      fields: { key: 'string', query: 'object', collation: 'object', hint: 'objectOrString' },
      inTransaction: true,
      reads: true,
    },
    explain: { handle: explain, fields: { verbosity: 'string' }, reads: true },

    create: { handle: create, fields: CREATE_FIELDS, inTransaction: true, writes: true },
    drop: { handle: drop, fields: {}, writes: true },
    dropDatabase: { handle: dropDatabase, fields: {}, writes: true },
    renameCollection: {
      handle: renameCollection,
      fields: { to: 'string', dropTarget: 'bool' },
      writes: true,
    },
    listCollections: {
      handle: listCollections,
      fields: { filter: 'object', nameOnly: 'bool', authorizedCollections: 'bool', cursor: 'object' },
      reads: true,
    },
    listDatabases: {
      handle: listDatabases,
      fields: { filter: 'object', nameOnly: 'bool', authorizedDatabases: 'bool' },
      reads: true,
    },
    createIndexes: {
      handle: createIndexes,
      fields: { indexes: 'array', ignoreUnknownIndexOptions: 'bool', commitQuorum: 'any' },
      inTransaction: true,
      writes: true,
    },
    dropIndexes: { handle: dropIndexes, fields: { index: 'any' }, writes: true },
    deleteIndexes: { handle: dropIndexes, fields: { index: 'any' }, writes: true },
    listIndexes: { handle: listIndexes, fields: { cursor: 'object' }, reads: true },

    commitTransaction: {
      handle: commitTransaction,
      fields: { recoveryToken: 'object' },
      endsTransaction: true,
      writes: true,
    },
    abortTransaction: {
      handle: abortTransaction,
      fields: { recoveryToken: 'object' },
      endsTransaction: true,
      writes: true,
    },
    endSessions: { handle: endSessions, fields: {} },
    killSessions: { handle: endSessions, fields: {} },
    refreshSessions: { handle: replyOk, fields: {} },
    killAllSessions: { handle: killAllSessions, fields: {} },

    hello: { handle: hello, fields: null, inTransaction: true },
    ismaster: { handle: hello, fields: null, inTransaction: true },
    isMaster: { handle: hello, fields: null, inTransaction: true },
    ping: { handle: replyOk, fields: {} },
    buildInfo: { handle: buildInfo, fields: {} },
    buildinfo: { handle: buildInfo, fields: {} },
    serverStatus: { handle: serverStatus, fields: null },
    dbStats: { handle: dbStats, fields: null },
    collStats: { handle: collStats, fields: null },
    getParameter: { handle: getParameter, fields: null },
    setParameter: { handle: setParameter, fields: null },
    configureFailPoint: { handle: configureFailPoint, fields: { mode: 'any', data: 'object' } },
    replSetStepDown: {
      handle: replSetStepDown,
      fields: { force: 'bool', secondaryCatchUpPeriodSecs: 'natural' },
    },
    connectionStatus: { handle: connectionStatus, fields: null },
    whatsmyuri: { handle: whatsMyUri, fields: {} },
    ...Object.fromEntries(REFUSED.map((name) => [name, { handle: rejectUnsupportedCommand, fields: null }])),
  }),
);

export function isCommand(name: string): boolean {
  return DEFINITIONS.has(name);
}

/**
 * Returns the definition of a command.
 * @throws MongoError 59 if there is no such command.
 */
export function definitionOf(name: string): CommandDefinition {
  const definition = DEFINITIONS.get(name);
  if (definition === undefined) {
    throw new MongoError(59, `no such command: '${name}'`);
  }
  return definition;
}
