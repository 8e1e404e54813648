/** Plants one corruption through the test's own database connection. */
import type { Db, Document } from 'mongodb';
import mongoose from 'mongoose';
import { createEdit, type Edit } from './edit.js';

/** Undoes a corruption. */
export type Restore = () => Promise<void>;

export function db(): Db {
  const { db: found } = mongoose.connection;
  if (!found) {
    throw new Error('not connected');
  }
  return found;
}

async function plant(corrupt: (planted: Edit) => Promise<unknown>): Promise<Restore> {
  const planted = createEdit(db());
  await corrupt(planted);
  return () => planted.undo();
}

export const change = (collection: string, filter: Document, update: Document) =>
  plant((planted) => planted.change(collection, filter, update));
export const remove = (collection: string, filter: Document) =>
  plant((planted) => planted.remove(collection, filter));
export const add = (collection: string, document: Document) =>
  plant((planted) => planted.add(collection, document));
/** Adds a copy of a document with changed fields. */
export const copy = (collection: string, filter: Document, changes: Document) =>
  plant((planted) => planted.copy(collection, filter, changes));
