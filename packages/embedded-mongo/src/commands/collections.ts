import { Binary, Long } from 'bson';
import { MongoError } from '../errors.js';
import { compileFilter } from '../query/compile-filter.js';
import { encode } from '../values/encode.js';
import { databaseOf, ID_INDEX_SPEC, getCollectionName, type Collection } from '../store/collection.js';
import {
  collectionFor,
  ensureCollection,
  appendCatalogChange,
  assertNoPendingWrites,
  type Store,
} from '../store/store.js';
import { runStatement } from '../transactions/run-statement.js';
import type { CommandContext, CommandResult } from './context.js';
import { batchSizeOf, openCursor } from './cursors.js';
import { boolField, checkDatabaseName, docField, namespaceOf, type FieldType } from './fields.js';
import { checkCollation, refuseUnsupported } from './query-options.js';

const UNSUPPORTED_OPTIONS = [
  'capped',
  'size',
  'max',
  'autoIndexId',
  'storageEngine',
  'validator',
  'validationLevel',
  'validationAction',
  'indexOptionDefaults',
  'viewOn',
  'pipeline',
  'timeseries',
  'clusteredIndex',
  'expireAfterSeconds',
  'encryptedFields',
  'changeStreamPreAndPostImages',
];
export const CREATE_FIELDS: Readonly<Record<string, FieldType>> = {
  ...Object.fromEntries(UNSUPPORTED_OPTIONS.map((option) => [option, 'any' as const])),
  collation: 'object',
};

/** Runs `create`. In a transaction, other clients see the collection only after the commit. */
export async function create(context: CommandContext): Promise<CommandResult> {
  const { command, database, server, reader } = context;
  const namespace = namespaceOf(database, command['create']);
  refuseUnsupported(command, UNSUPPORTED_OPTIONS);
  checkCollation(command);
  if (collectionFor(server.store, namespace, reader) !== undefined) {
    throw new MongoError(48, `Collection ${namespace} already exists.`);
  }
  await runStatement(context.statement, (writer) => ensureCollection(server.store, namespace, writer));
  return {};
}

export async function drop({ command, database, server, statement }: CommandContext): Promise<CommandResult> {
  const namespace = namespaceOf(database, command['drop']);
  return runStatement(statement, () => {
    const collection = collectionFor(server.store, namespace, null);
    if (collection === undefined) {
      return {};
    }
    dropCollection(server.store, collection);
    return { nIndexesWas: collection.indexes.length, ns: namespace };
  });
}

export async function dropDatabase({ database, server, statement }: CommandContext): Promise<CommandResult> {
  checkDatabaseName(database);
  await runStatement(statement, () => {
    for (const collection of server.store.collections.values()) {
      if (databaseOf(collection.namespace) === database) {
        dropCollection(server.store, collection);
      }
    }
  });
  return { dropped: database };
}

/**
 * Drops a collection. Throws LockedError if an open transaction has written to the collection. The
 * statement then waits for the end of that transaction.
 */
function dropCollection(store: Store, collection: Collection): void {
  assertNoPendingWrites(store, collection);
  store.collections.delete(collection.namespace);
  appendCatalogChange(store, { type: 'drop', id: collection.id });
}

export async function renameCollection({
  command,
  server,
  statement,
}: CommandContext): Promise<CommandResult> {
  const { renameCollection: from, to } = command;
  if (typeof from !== 'string' || typeof to !== 'string') {
    throw new MongoError(73, 'renameCollection takes two namespaces');
  }
  const target = namespaceOf(databaseOf(to), getCollectionName(to));
  await runStatement(statement, () =>
    rename(server.store, { from, target, dropTarget: boolField(command, 'dropTarget') }),
  );
  return {};
}

function rename(
  store: Store,
  { from, target, dropTarget }: { from: string; target: string; dropTarget: boolean },
): void {
  const collection = collectionFor(store, from, null);
  if (collection === undefined) {
    throw new MongoError(26, `Source collection ${from} does not exist`);
  }
  if (from === target) {
    throw new MongoError(20, "Can't rename a collection to itself");
  }
  assertNoPendingWrites(store, collection);
  const existing = collectionFor(store, target, null);
  if (existing !== undefined) {
    if (!dropTarget) {
      throw new MongoError(48, 'target namespace exists');
    }
    dropCollection(store, existing);
  }
  store.collections.delete(from);
  collection.namespace = target;
  store.collections.set(target, collection);
  appendCatalogChange(store, { type: 'rename', id: collection.id, namespace: target });
}

export function listCollections(context: CommandContext): Promise<CommandResult> {
  const { command, database, server } = context;
  const matches = compileFilter(docField(command, 'filter') ?? {});
  const nameOnly = boolField(command, 'nameOnly');
  const documents: Buffer[] = [];
  for (const collection of server.store.collections.values()) {
    if (databaseOf(collection.namespace) !== database) {
      continue;
    }
    const name = getCollectionName(collection.namespace);
    const whole = {
      name,
      type: 'collection',
      options: {},
      info: { readOnly: false, uuid: new Binary(collection.uuid, Binary.SUBTYPE_UUID) },
      idIndex: ID_INDEX_SPEC,
    };
    if (matches(whole)) {
      documents.push(encode(nameOnly ? { name, type: 'collection' } : whole));
    }
  }
  return openCursor(context, {
    namespace: `${database}.$cmd.listCollections`,
    documents,
    batchSize: batchSizeOf(docField(command, 'cursor')),
  });
}

export function listDatabases({ command, server }: CommandContext): CommandResult {
  const sizes = new Map<string, number>();
  for (const { namespace, records } of server.store.collections.values()) {
    let bytes = 4096;
    for (const { version } of records.values()) {
      bytes += version?.bytes?.length ?? 0;
    }
    sizes.set(databaseOf(namespace), (sizes.get(databaseOf(namespace)) ?? 0) + bytes);
  }
  const matches = compileFilter(docField(command, 'filter') ?? {});
  const all = [...sizes]
    .map(([name, bytes]) => ({ name, sizeOnDisk: Long.fromNumber(bytes), empty: false }))
    .filter((database) => matches(database))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  if (boolField(command, 'nameOnly')) {
    return { databases: all.map(({ name }) => ({ name })) };
  }
  const totalSize = Long.fromNumber([...sizes.values()].reduce((sum, bytes) => sum + bytes, 0));
  return { databases: all, totalSize, totalSizeMb: totalSize.div(1 << 20) };
}
