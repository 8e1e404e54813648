import { MongoError } from '../errors.js';
import { copyDoc, getField } from '../values/fields.js';
import { isDoc, type Doc } from '../values/types.js';
import { visibleVersion, type Collection } from '../store/collection.js';
import { isUnique, keysIn, type Index } from '../store/index-definition.js';
import { sameKey } from '../store/plan.js';
import { docOf } from '../store/record.js';
import { collectionFor, logChange, type Store } from '../store/store.js';
import type { CommandContext, CommandResult } from './context.js';
import { docField, namespaceOf } from './fields.js';
import { refuseUnsupported } from './query-options.js';

/** `collMod`: expiry, visibility and uniqueness of an index. */
export function collMod({ command, database, server }: CommandContext): CommandResult {
  const namespace = namespaceOf(database, command['collMod']);
  refuseUnsupported(command, ['validator', 'viewOn', 'pipeline', 'timeseries']);
  const collection = collectionFor(server.store, namespace, null);
  if (collection === undefined) {
    throw new MongoError(26, `ns does not exist: ${namespace}`);
  }
  const images = docField(command, 'changeStreamPreAndPostImages');
  if (images !== undefined) {
    collection.options = { ...collection.options, changeStreamPreAndPostImages: images };
    logChange(server.store, { type: 'options', id: collection.id, options: collection.options });
  }
  const change = docField(command, 'index');
  return change === undefined ? {} : modifyIndex(server.store, collection, change);
}

function modifyIndex(store: Store, collection: Collection, change: Doc): Doc {
  const { name, keyPattern } = change;
  const index = collection.indexes.find(
    (candidate) =>
      candidate.name === name || (isDoc(keyPattern) && sameKey(candidate.spec['key'], keyPattern)),
  );
  if (index === undefined) {
    throw new MongoError(27, `cannot find index for ns ${collection.namespace}`);
  }
  if (change['unique'] === true) {
    refuseViolations(index);
  }
  const reply: Doc = {};
  const spec = copyDoc(index.spec);
  for (const option of ['expireAfterSeconds', 'hidden', 'prepareUnique', 'unique']) {
    if (change[option] !== undefined) {
      if (spec[option] !== undefined) {
        reply[`${option}_old`] = spec[option];
      }
      spec[option] = change[option];
      reply[`${option}_new`] = change[option];
    }
  }
  index.spec = spec;
  index.unique = isUnique(spec);
  index.expireAfterSeconds =
    spec['expireAfterSeconds'] === undefined ? null : Number(spec['expireAfterSeconds']);
  logChange(store, { type: 'index', id: collection.id, spec });
  return reply;
}

/** Throws MongoError 359, naming the documents, when several have one key. */
function refuseViolations(index: Index): void {
  const byKey = new Map<string, unknown[]>();
  for (const { records } of index.entries.chunks) {
    for (const record of new Set(records)) {
      const version = visibleVersion(record, null);
      const doc = version === null ? undefined : docOf(version);
      for (const key of doc === undefined ? [] : keysIn(index, doc)) {
        const ids = byKey.get(key);
        if (ids === undefined) {
          byKey.set(key, [getField(doc ?? {}, '_id')]);
        } else {
          ids.push(getField(doc ?? {}, '_id'));
        }
      }
    }
  }
  const violations = [...byKey.values()].filter(({ length }) => length > 1).map((ids) => ({ ids }));
  if (violations.length > 0) {
    throw new MongoError(
      359,
      'Cannot convert the index to unique. Please resolve conflicting documents before running collMod again.',
      {
        violations,
      },
    );
  }
}
