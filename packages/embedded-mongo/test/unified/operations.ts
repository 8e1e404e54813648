import {
  AbstractCursor,
  ClientSession,
  Collection,
  Db,
  GridFSBucket,
  MongoClient,
  type Document,
  type GridFSBucketReadStream,
} from 'mongodb';

type Call<T> = (object: T, args: Document) => unknown;
type Calls<T> = Readonly<Record<string, Call<T>>>;

const ofCollection: Calls<Collection> = {
  aggregate: (collection, { pipeline, ...options }) => collection.aggregate(pipeline, options).toArray(),
  bulkWrite: (collection, { requests, ...options }) => collection.bulkWrite(requests, options),
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- the cases call it
  count: (collection, { filter, ...options }) => collection.count(filter, options),
  countDocuments: (collection, { filter, ...options }) => collection.countDocuments(filter, options),
  createFindCursor: (collection, { filter, ...options }) => openCursor(collection.find(filter, options)),
  createIndex: (collection, { keys, session, ...options }) =>
    collection.createIndex(keys, options, { session }),
  deleteMany: (collection, { filter, ...options }) => collection.deleteMany(filter, options),
  deleteOne: (collection, { filter, ...options }) => collection.deleteOne(filter, options),
  distinct: (collection, { fieldName, filter, ...options }) =>
    collection.distinct(fieldName, filter, options),
  drop: (collection, options) => collection.drop(options),
  dropIndex: (collection, { name, ...options }) => collection.dropIndex(name, options),
  estimatedDocumentCount: (collection, options) => collection.estimatedDocumentCount(options),
  find: (collection, { filter, ...options }) => collection.find(filter, options).toArray(),
  findOne: (collection, { filter, ...options }) => collection.findOne(filter, options),
  findOneAndDelete: (collection, { filter, ...options }) => collection.findOneAndDelete(filter, options),
  findOneAndReplace: (collection, { filter, replacement, ...options }) =>
    collection.findOneAndReplace(filter, replacement, toDriverOptions(options)),
  findOneAndUpdate: (collection, { filter, update, ...options }) =>
    collection.findOneAndUpdate(filter, update, toDriverOptions(options)),
  insertMany: (collection, { documents, ...options }) => collection.insertMany(documents, options),
  insertOne: (collection, { document, ...options }) => collection.insertOne(document, options),
  listIndexes: (collection, options) => collection.listIndexes(options).toArray(),
  listIndexNames: async (collection, options) => (await collection.indexes(options)).map(({ name }) => name),
  rename: (collection, { to, ...options }) => collection.rename(to, options),
  replaceOne: (collection, { filter, replacement, ...options }) =>
    collection.replaceOne(filter, replacement, options),
  updateMany: (collection, { filter, update, ...options }) => collection.updateMany(filter, update, options),
  updateOne: (collection, { filter, update, ...options }) => collection.updateOne(filter, update, options),
};

const ofDatabase: Calls<Db> = {
  aggregate: (db, { pipeline, ...options }) => db.aggregate(pipeline, options).toArray(),
  createCollection: (db, { collection, ...options }) => db.createCollection(collection, options),
  createCommandCursor: (db, { command, commandName: _, ...options }) =>
    openCursor(db.runCursorCommand(command, options)),
  dropCollection: (db, { collection, ...options }) => db.dropCollection(collection, options),
  listCollections: (db, { filter, ...options }) => db.listCollections(filter, options).toArray(),
  listCollectionNames: async (db, { filter, ...options }) =>
    (await db.listCollections(filter, { ...options, nameOnly: true }).toArray()).map(({ name }) => name),
  runCommand: (db, { command, commandName: _, ...options }) => db.command(command, options),
  runCursorCommand: (db, { command, commandName: _, ...options }) =>
    db.runCursorCommand(command, options).toArray(),
};

const ofClient: Calls<MongoClient> = {
  clientBulkWrite: (client, { models, ...options }) =>
    client.bulkWrite(
      (models as Document[]).flatMap((model) =>
        Object.entries(model).map(([name, fields]) => ({ name, ...fields })),
      ),
      options,
    ),
  listDatabases: async (client, options) => (await client.db().admin().listDatabases(options)).databases,
  listDatabaseNames: async (client, options) =>
    (
      await client
        .db()
        .admin()
        .listDatabases({ ...options, nameOnly: true })
    ).databases.map(({ name }) => name),
};

const ofSession: Calls<ClientSession> = {
  abortTransaction: (session, options) => session.abortTransaction(options),
  commitTransaction: (session, options) => session.commitTransaction(options),
  endSession: (session) => session.endSession(),
  getSnapshotTime: (session) => (session as unknown as Document)['snapshotTime'],
  startTransaction: (session, options) => session.startTransaction(options),
  withTransaction: (session, { callback, ...options }) => session.withTransaction(callback, options),
};

const ofBucket: Calls<GridFSBucket> = {
  delete: (bucket, { id }) => bucket.delete(id),
  download: (bucket, { id, ...options }) => read(bucket.openDownloadStream(id, options)),
  downloadByName: (bucket, { filename, ...options }) =>
    read(bucket.openDownloadStreamByName(filename, options)),
  upload: async (bucket, { filename, source, ...options }) => {
    const upload = bucket.openUploadStream(filename, options);
    await new Promise<void>((resolve, reject) => {
      upload.once('error', reject);
      upload.end(Buffer.from(source.$$hexBytes, 'hex'), resolve);
    });
    return upload.id;
  },
};

const ofCursor: Calls<AbstractCursor> = {
  close: (cursor) => cursor.close(),
  iterateOnce: (cursor) => cursor.tryNext(),
  iterateUntilDocumentOrError: (cursor) => cursor.next(),
};

const KINDS: readonly { is: (object: unknown) => boolean; calls: Calls<never> }[] = [
  { is: (object) => object instanceof Collection, calls: ofCollection },
  { is: (object) => object instanceof Db, calls: ofDatabase },
  { is: (object) => object instanceof MongoClient, calls: ofClient },
  { is: (object) => object instanceof ClientSession, calls: ofSession },
  { is: (object) => object instanceof GridFSBucket, calls: ofBucket },
  { is: (object) => object instanceof AbstractCursor, calls: ofCursor },
];

/** Calls the driver's method for this operation on an entity. */
export function callDriver(object: unknown, name: string, args: Document): unknown {
  const call = KINDS.find(({ is }) => is(object))?.calls[name] as Call<unknown> | undefined;
  if (call === undefined) {
    throw new Error(`the runner does not support operation ${name} for this entity`);
  }
  return call(object, args);
}

/** True if the runner supports this operation for at least one kind of entity. */
export function isDriverCall(name: string): boolean {
  return KINDS.some(({ calls }) => Object.hasOwn(calls, name));
}

/** Sends the command of a cursor and returns the cursor. No document is consumed. */
async function openCursor<T extends AbstractCursor>(cursor: T): Promise<T> {
  await cursor.hasNext();
  return cursor;
}

function toDriverOptions({ returnDocument, ...options }: Document): Document {
  return returnDocument === undefined
    ? options
    : { ...options, returnDocument: returnDocument.toLowerCase() };
}

async function read(stream: GridFSBucketReadStream): Promise<Buffer> {
  return Buffer.concat((await stream.toArray()) as Uint8Array[]);
}
