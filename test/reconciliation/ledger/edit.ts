import type { Db, Document } from 'mongodb';

/** Changes stored documents without code of the service, and can undo these changes. */
export interface Edit {
  change(collection: string, filter: Document, update: Document): Promise<void>;
  remove(collection: string, filter: Document): Promise<void>;
  add(collection: string, document: Document): Promise<void>;
  /** Changes the `_id` of the document. */
  rename(collection: string, filter: Document, id: unknown): Promise<void>;
  /**
   * Adds a copy of a document with changed fields.
   * @returns the copy.
   */
  copy(collection: string, filter: Document, changes: Document): Promise<Document>;
  /** Replaces an index with another one of the same name. If there is none, drops the index. */
  index(collection: string, name: string, other: { key: Document; options?: Document } | null): Promise<void>;
  read(collection: string, filter: Document): Promise<Document>;
  undo(): Promise<void>;
}

export function createEdit(db: Db): Edit {
  const undoes: (() => Promise<unknown>)[] = [];

  async function read(collection: string, filter: Document): Promise<Document> {
    const found = await db.collection(collection).findOne(filter, { promoteLongs: false });
    if (!found) {
      throw new Error(`nothing to corrupt in ${collection}: ${JSON.stringify(filter)}`);
    }
    return found;
  }
  async function add(collection: string, document: Document): Promise<void> {
    // Without this option, the driver would replace a null `_id` with a generated one.
    const options = { ignoreUndefined: true, forceServerObjectId: '_id' in document };
    await db.collection(collection).insertOne(document, options);
    undoes.push(() => db.collection(collection).deleteOne({ _id: document['_id'] }));
  }
  async function remove(collection: string, filter: Document): Promise<void> {
    const before = await read(collection, filter);
    await db.collection(collection).deleteOne({ _id: before['_id'] });
    undoes.push(() => db.collection(collection).insertOne(before));
  }
  return {
    read,
    add,
    remove,
    async change(collection, filter, update) {
      const before = await read(collection, filter);
      await db.collection(collection).updateOne({ _id: before['_id'] }, update);
      undoes.push(() => db.collection(collection).replaceOne({ _id: before['_id'] }, before));
    },
    async rename(collection, filter, id) {
      const before = await read(collection, filter);
      await remove(collection, filter);
      await add(collection, { ...before, _id: id });
    },
    async copy(collection, filter, changes) {
      const document = { ...(await read(collection, filter)), ...changes };
      await add(collection, document);
      return document;
    },
    async index(collection, name, other) {
      const before = (await db.collection(collection).indexes()).find((each) => each.name === name);
      if (!before) {
        throw new Error(`there is no index ${collection}.${name}`);
      }
      await db.collection(collection).dropIndex(name);
      if (other) {
        await db.collection(collection).createIndex(other.key, { ...other.options, name }, {});
      }
      undoes.push(async () => {
        if (other) {
          await db.collection(collection).dropIndex(name);
        }
        const { key, v: _, ...options } = before;
        await db.collection(collection).createIndex(key, options, {});
      });
    },
    async undo() {
      for (const step of undoes.splice(0).reverse()) {
        await step();
      }
    },
  };
}
