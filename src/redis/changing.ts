import type { Model } from 'mongoose';
import { isMongoUnavailable } from '../database/mongo.js';
import {
  getCollectionName,
  writerOf,
  type AnyReadOnlyModel,
  type ReadOnlyModel,
} from '../database/read-only-model.js';
import { DependencyError } from '../shared/errors.js';
import { newId } from '../shared/ids.js';
import { processId } from './process-id.js';
import { publishChange, publishAndAwaitAcks } from './tell-change.js';

type Writers<M> = { [I in keyof M]: M[I] extends ReadOnlyModel<infer T> ? Model<T> : never };

/**
 * The only way to write what processes keep in memory (`cached`). When it returns, the next call in every process
 * sees the change (decision 051); that costs milliseconds, and up to a second and a half where a process has
 * just died or Redis is away.
 *
 * It is told before the write as well: should this process die after the commit, the others keep what they
 * read meanwhile for `limits.cacheDeafMs` only.
 * @param subjects Ids of the accounts, or codes of the products, that change; null: all.
 * @param write Ends when the change holds: a database transaction is inside of it, never around it.
 * @throws what `write` throws.
 */
export async function writeAndInvalidate<const M extends readonly AnyReadOnlyModel[], R>(
  models: M,
  subjects: string[] | null,
  write: (...writers: Writers<M>) => Promise<R>,
): Promise<R> {
  const change = { id: newId(), by: processId, collections: models.map(getCollectionName), subjects };
  await publishChange({ ...change, phase: 'begin' });
  let phase: 'end' | 'unsure' = 'end';
  try {
    return await write(...(models.map(writerOf) as unknown as Writers<M>));
  } catch (error) {
    if (error instanceof DependencyError || isMongoUnavailable(error)) {
      // It may still come to hold.
      phase = 'unsure';
    }
    throw error;
  } finally {
    await publishAndAwaitAcks({ ...change, phase });
  }
}
