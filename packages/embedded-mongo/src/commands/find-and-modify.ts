import { MongoError } from '../errors.js';
import { compileProjection } from '../projection/compile-projection.js';
import { compileFilter } from '../query/compile-filter.js';
import { keysOf } from '../values/fields.js';
import type { Doc } from '../values/types.js';
import { findRows } from '../store/find-rows.js';
import { getDocument } from '../store/record.js';
import { collectionFor } from '../store/store.js';
import type { Transaction } from '../store/transaction.js';
import { deleteDocument } from '../store/write.js';
import { rememberReply, findRememberedReply, runStatement } from '../transactions/run-statement.js';
import type { CommandContext, CommandResult } from './context.js';
import { boolField, docField, namespaceOf } from './fields.js';
import { checkCollation, getFilterOptions, scopeOf, sortOf } from './query-options.js';
import { statementIdOf } from './statements.js';
import { prepareUpdate } from './update-matching.js';

/**
 * Runs `findAndModify`: changes or deletes one document and returns it. By default it returns the
 * document before the change, and with `new` the document after it.
 */
export async function findAndModify(context: CommandContext): Promise<CommandResult> {
  const { command, name, database } = context;
  const namespace = namespaceOf(database, command[name]);
  checkCollation(command);
  checkOptions(command);
  const statementId = statementIdOf(command, 0);
  const known = findRememberedReply(context.statement, statementId);
  if (known !== undefined) {
    return { ...known, retriedStmtId: statementId };
  }
  const step = boolField(command, 'remove')
    ? prepareRemove(context, namespace)
    : prepareModify(context, namespace);
  return runStatement(context.statement, (transaction) => {
    const reply = step(transaction);
    rememberReply(context.statement, transaction, statementId, reply);
    return reply;
  });
}

function prepareModify(context: CommandContext, namespace: string): (transaction: Transaction) => Doc {
  const { command } = context;
  const returnNew = boolField(command, 'new');
  const project = projectionOf(context);
  const apply = prepareUpdate(context, {
    namespace,
    filter: docField(command, 'query') ?? {},
    update: command['update'],
    arrayFilters: command['arrayFilters'],
    sort: sortOf(command),
    hint: command['hint'],
    multi: false,
    upsert: boolField(command, 'upsert'),
    statement: command,
  });
  return (transaction) => {
    const { matched, upserted, before, after } = apply(transaction);
    const image = returnNew ? after : before;
    return {
      lastErrorObject: {
        n: matched,
        updatedExisting: matched > 0 && upserted === null,
        ...(upserted === null ? {} : { upserted: upserted.id }),
      },
      value: image === null ? null : project(image),
    };
  };
}

function prepareRemove(context: CommandContext, namespace: string): (transaction: Transaction) => Doc {
  const { command, server, now } = context;
  const filter = docField(command, 'query') ?? {};
  const matches = compileFilter(filter, getFilterOptions(command, now));
  const sort = sortOf(command);
  const project = projectionOf(context);
  return (transaction) => {
    const collection = collectionFor(server.store, namespace, transaction);
    const [row] =
      collection === undefined
        ? []
        : findRows(collection, transaction, { filter, matches, sort, limit: 1, hint: command['hint'] });
    if (collection === undefined || row === undefined) {
      return { lastErrorObject: { n: 0 }, value: null };
    }
    deleteDocument(transaction, collection, row.record);
    return { lastErrorObject: { n: 1 }, value: project(getDocument(row.version)) };
  };
}

function projectionOf({ command, now }: CommandContext): (doc: Doc) => Doc {
  const fields = docField(command, 'fields');
  if (fields === undefined || keysOf(fields).length === 0) {
    return (doc) => doc;
  }
  return compileProjection(fields, scopeOf(command, now));
}

function checkOptions(command: Doc): void {
  const removes = boolField(command, 'remove');
  const updates = command['update'] !== undefined && command['update'] !== null;
  if (removes === updates) {
    throw new MongoError(
      9,
      removes
        ? 'Cannot specify both an update and remove=true'
        : 'Either an update or remove=true must be specified',
    );
  }
  if (removes && boolField(command, 'upsert')) {
    throw new MongoError(9, 'Cannot specify both upsert=true and remove=true');
  }
  if (removes && boolField(command, 'new')) {
    throw new MongoError(
      9,
      "Cannot specify both new=true and remove=true; 'remove' always returns the deleted document",
    );
  }
}
