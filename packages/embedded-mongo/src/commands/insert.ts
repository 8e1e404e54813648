import { MongoError } from '../errors.js';
import { isDoc, typeNameOf, type Doc } from '../values/types.js';
import { LockedError } from '../store/conflict.js';
import { ensureCollection } from '../store/store.js';
import type { Transaction } from '../store/transaction.js';
import { insertDocument } from '../store/write.js';
import { rememberReply, findRememberedReply, runStatement } from '../transactions/run-statement.js';
import type { CommandContext, CommandResult } from './context.js';
import { writeError } from './error-reply.js';
import { boolField, namespaceOf } from './fields.js';
import { storableDocument } from './storable-document.js';
import { checkBatchSize, failureFields, statementError, statementIdOf } from './statements.js';

/**
 * The progress of a batch. Each run commits its inserts, so the progress is kept from one run to
 * the next.
 */
interface Progress {
  next: number;
  inserted: number;
  errors: Doc[];
  retried: number[];
}

/**
 * Runs `insert`. Without a lock conflict, all documents are committed together. After a conflict,
 * the batch continues in a new run with its own commit.
 */
export async function insert(context: CommandContext): Promise<CommandResult> {
  const { command, database, documents } = context;
  const namespace = namespaceOf(database, command['insert']);
  const sent = documents ?? sentDocuments(command);
  checkBatchSize(sent.length);
  const progress: Progress = { next: 0, inserted: 0, errors: [], retried: [] };
  while (progress.next < sent.length) {
    await runStatement(context.statement, (transaction) => {
      insertMany(context, transaction, { namespace, sent, progress });
    });
  }
  return {
    n: progress.inserted,
    ...failureFields(progress.errors, progress.retried),
  };
}

function insertMany(
  context: CommandContext,
  transaction: Transaction,
  { namespace, sent, progress }: { namespace: string; sent: readonly (Doc | Buffer)[]; progress: Progress },
): void {
  const { server, command, statement } = context;
  const isOrdered = boolField(command, 'ordered', true) || transaction.explicit;
  const now = server.clock.at(server.store.clock);
  const collection = ensureCollection(server.store, namespace, transaction);
  const first = progress.next;
  for (; progress.next < sent.length; progress.next++) {
    const index = progress.next;
    const statementId = statementIdOf(command, index);
    if (findRememberedReply(statement, statementId) !== undefined) {
      progress.retried.push(statementId);
      progress.inserted += 1;
      continue;
    }
    try {
      const { doc, bytes } = storableDocument(sent[index] ?? {}, now);
      insertDocument(transaction, collection, doc, bytes);
    } catch (error) {
      if (error instanceof LockedError && index > first) {
        // Commit the inserts of this run. The next run starts with this document and waits for its
        // lock.
        return;
      }
      progress.errors.push(writeError(statementError(error), index));
      if (isOrdered) {
        progress.next = sent.length;
        return;
      }
      continue;
    }
    rememberReply(statement, transaction, statementId, { n: 1 });
    progress.inserted += 1;
  }
}

function sentDocuments(command: Doc): Doc[] {
  const documents = command['documents'];
  if (!Array.isArray(documents)) {
    throw new MongoError(40414, "BSON field 'insert.documents' is missing but a required field");
  }
  return documents.map((document: unknown, i) => {
    if (!isDoc(document)) {
      throw new MongoError(
        14,
        `BSON field 'insert.documents.${i}' is the wrong type '${typeNameOf(document)}', expected type 'object'`,
      );
    }
    return document;
  });
}
