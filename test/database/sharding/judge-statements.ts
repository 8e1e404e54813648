/**
 * Checks the MongoDB statements of all processes against the shard keys (src/database/sharding.ts).
 */
import type { Document } from 'mongodb';
import { limits } from '../../../config/limits.js';
import { shardKeys, unshardedCollections, type ShardedCollection } from '../../../src/database/sharding.js';
import type { SentCommand } from '../../support/statement-tap.js';

/**
 * One statement of a command. An update or delete may have several; an insert has one per document.
 */
export interface Statement {
  command: SentCommand;
  /** The filter of the statement. For an insert, the document. */
  filter: Document;
}

export interface StatementJudgement {
  /** Statements on sharded collections that are sent to all shards, with an example of each. */
  scattered: Map<string, Statement>;
  /** Statements in a transaction that name accounts of several ranges. These are never allowed. */
  mixed: string[];
  /**
   * Statements that run on another shard than the rest of their transaction, by command and
   * collection.
   */
  crossing: Map<string, Statement>;
  /** Collections that src/database/sharding.ts does not list. */
  unknown: Set<string>;
  /** The number of transactions on a single shard, and the total number. */
  transactions: { onOneShard: number; all: number };
}

/**
 * Checks statements against the shard keys.
 * @param splits The split points, as in MONGODB_SHARD_SPLITS.
 */
export function judgeStatements(sent: readonly SentCommand[], splits: readonly string[]): StatementJudgement {
  const judged: StatementJudgement = {
    scattered: new Map(),
    mixed: [],
    crossing: new Map(),
    unknown: new Set(),
    transactions: { onOneShard: 0, all: 0 },
  };
  const homeOf = new Map<string, number>();
  const crossed = new Set<string>();
  for (const command of sent) {
    for (const statement of statementsOf(command)) {
      const { collection, transaction } = command;
      if (!(collection in shardKeys)) {
        noteUnsharded(judged, crossed, statement);
        continue;
      }
      const shape = shapeOf(statement);
      const keys = keysOf(statement.filter, shardKeys[collection as ShardedCollection]);
      if (keys === null) {
        judged.scattered.set(transaction === null ? shape : `in a transaction: ${shape}`, statement);
        continue;
      }
      if (transaction === null) {
        continue;
      }
      const homes = new Set(keys.flatMap((key) => rangeOfKey(collection, key, splits)));
      if (homes.size > 1) {
        judged.mixed.push(shape);
      }
      const [home] = homes;
      if (home !== undefined && home !== (homeOf.get(transaction) ?? home)) {
        crossed.add(transaction);
        judged.crossing.set(nameOf(statement), statement);
      } else if (home !== undefined) {
        homeOf.set(transaction, home);
      }
    }
  }
  const all = new Set(sent.flatMap(({ transaction }) => transaction ?? []));
  judged.transactions = { all: all.size, onOneShard: all.size - crossed.size };
  return judged;
}

function noteUnsharded(judged: StatementJudgement, crossed: Set<string>, statement: Statement): void {
  const { collection, transaction } = statement.command;
  if (!(collection in unshardedCollections) && !/^reports\.|^reportFiles\./.test(collection)) {
    judged.unknown.add(collection);
  }
  if (transaction !== null) {
    crossed.add(transaction);
    judged.crossing.set(nameOf(statement), statement);
  }
}

function nameOf({ command }: Statement): string {
  return `${command.name} ${command.collection}`;
}

export function statementsOf(command: SentCommand): Statement[] {
  const { name, body } = command;
  const of = (filters: unknown) => (filters as Document[]).map((filter) => ({ command, filter }));
  switch (name) {
    case 'find':
      return of([body['filter'] ?? {}]);
    case 'count':
    case 'distinct':
    case 'findAndModify':
      return of([body['query'] ?? {}]);
    case 'aggregate':
      return of([(body['pipeline'] as Document[])[0]?.['$match'] ?? {}]);
    case 'insert':
      return of(body['documents']);
    case 'update':
      return of((body['updates'] as { q: Document }[]).map(({ q }) => q));
    case 'delete':
      return of((body['deletes'] as { q: Document }[]).map(({ q }) => q));
    default:
      // These commands concern cursors, indexes or sessions and have no filter.
      return [];
  }
}

/** Returns the command, the collection, and the filter's fields with their operators. */
export function shapeOf({ command, filter }: Statement): string {
  const fields = command.name === 'insert' ? '' : ` {${partsOf(filter).join(', ')}}`;
  return `${nameOf({ command, filter })}${fields}`;
}

function partsOf(filter: Document): string[] {
  const parts = Object.entries(filter).flatMap(([field, condition]) =>
    Array.isArray(condition) && field.startsWith('$')
      ? [
          `${field}: [${[...new Set(condition.map((each: Document) => partsOf(each).join(', ')))].sort().join(' | ')}]`,
        ]
      : [isOperators(condition) ? `${field} ${Object.keys(condition).sort().join(' ')}` : field],
  );
  return parts.sort();
}

function isOperators(condition: unknown): condition is Document {
  return (
    typeof condition === 'object' &&
    condition !== null &&
    Object.keys(condition).length > 0 &&
    Object.keys(condition).every((each) => each.startsWith('$'))
  );
}

type Key = unknown[];

/**
 * Returns all shard key values that the filter selects by equality or `$in`. Null if it selects
 * none.
 */
function keysOf(filter: Document, fields: readonly string[]): Key[] | null {
  let keys: Key[] = [[]];
  for (const field of fields) {
    const values = field in filter ? valuesOf(filter[field]) : null;
    if (values === null) {
      return keysOfBranches(filter, fields);
    }
    keys = keys.flatMap((key) => values.map((value) => [...key, value]));
  }
  return keys;
}

function keysOfBranches(filter: Document, fields: readonly string[]): Key[] | null {
  for (const branch of (filter['$and'] ?? []) as Document[]) {
    const keys = keysOf(branch, fields);
    if (keys) {
      return keys;
    }
  }
  const branches = ((filter['$or'] ?? []) as Document[]).map((each) => keysOf(each, fields));
  return branches.length > 0 && branches.every((each) => each !== null) ? branches.flat() : null;
}

function valuesOf(condition: unknown): unknown[] | null {
  if (!isOperators(condition)) {
    return [condition];
  }
  const { $eq, $in } = condition as { $eq?: unknown; $in?: unknown[] };
  return '$eq' in condition ? [$eq] : ($in ?? null);
}

/** Returns the account range that contains this key. Empty if the key is not an account. */
function rangeOfKey(collection: string, key: Key, splits: readonly string[]): number[] {
  const [first, second] = key;
  if (collection === 'dailyTotals' && typeof first === 'number') {
    return [Math.floor(first / limits.totalsSlots)];
  }
  const account = collection === 'dailyTotals' ? second : first;
  return typeof account === 'string' ? [splits.filter((split) => split <= account).length] : [];
}
