/**
 * Checks the query plans of all processes. No query may read or sort an unbounded number of
 * documents.
 */
import { readFileSync } from 'node:fs';
import { MongoServerError, type Db, type Document } from 'mongodb';
import { shapeOf, statementsOf, type Statement } from './sharding/judge-statements.js';
import type { SentCommand } from '../support/statement-tap.js';

/** Allowed queries without a bounded plan, with the reason for each. */
export const unboundedQueries = JSON.parse(
  readFileSync('test/database/unbounded-queries.json', 'utf8'),
) as Record<string, string>;

interface Query {
  collection: string;
  filter: Document;
  sort: Document | undefined;
  hint: unknown;
  isLimited: boolean;
}

/** Returns one example per query shape: command, filter, sort order, and whether it is limited. */
export function queriesIn(sent: readonly SentCommand[]): Map<string, Query> {
  const queries = new Map<string, Query>();
  for (const statement of sent.filter(({ name }) => name !== 'insert').flatMap(statementsOf)) {
    const query = queryOf(statement);
    if (statement.command.name === 'count' && isOfAll(query)) {
      // MongoDB uses the collection's metadata and reads no documents.
      continue;
    }
    const order = Object.entries(query.sort ?? {}).map(([field, direction]) => `${field} ${direction}`);
    const by = order.length > 0 ? ` by ${order.join(', ')}` : '';
    const shape = `${shapeOf(statement)}${by}${query.isLimited ? ', limited' : ''}`;
    queries.set(shape, queries.get(shape) ?? query);
  }
  return queries;
}

function queryOf({ command: { name, collection, body }, filter }: Statement): Query {
  const stages = (body['pipeline'] ?? []) as Document[];
  const behindMatch = stages.filter((stage) => !('$match' in stage));
  const writes = (body['updates'] ?? body['deletes'] ?? []) as Document[];
  return {
    collection,
    filter,
    sort: name === 'aggregate' ? behindMatch[0]?.['$sort'] : body['sort'],
    hint: body['hint'] ?? writes.find(({ q }) => q === filter)?.['hint'],
    isLimited: Number(body['limit'] ?? 0) > 0 || behindMatch.some((stage) => '$limit' in stage),
  };
}

/** Returns the unbounded stage of the chosen plan. Null if a bounded plan exists. */
export async function findUnboundedPlan(db: Db, query: Query): Promise<string | null> {
  const problem = await problemWith(db, query);
  if (problem === null || query.hint !== undefined) {
    return problem;
  }
  // With few documents the server may choose any plan, so it is enough that another index gives a
  // bounded one.
  for (const { name } of await db.collection(query.collection).indexes()) {
    const hinted = await problemWith(db, { ...query, hint: name }).catch((error: unknown) => {
      if (error instanceof MongoServerError && error.code === badValue) {
        return 'a partial index that does not fit';
      }
      throw error;
    });
    if (hinted === null) {
      return null;
    }
  }
  return problem;
}

const badValue = 2;

async function problemWith(db: Db, query: Query): Promise<string | null> {
  const { collection, filter, sort, hint } = query;
  // For `$in`, MongoDB merges the sorted results of all values. The plan for one value therefore
  // represents all of them.
  const find = {
    find: collection,
    filter: sort ? withOneValue(withOneRange(filter)) : filter,
    ...(sort && { sort }),
    ...(hint !== undefined && { hint }),
  };
  const { queryPlanner } = await db.command({ explain: find, verbosity: 'queryPlanner' });
  return problemOf(stagesIn(queryPlanner.winningPlan), query);
}

/**
 * Keeps one range of an `$or`. MongoDB merges sorted ranges of one index, so one represents all.
 */
function withOneRange({ $or: alternatives, ...rest }: Document): Document {
  const all = (alternatives ?? []) as Document[];
  const areOfIds = all.every((each) => Object.keys(each).join() === '_id');
  return areOfIds ? { ...rest, ...all[0] } : { ...rest, $or: all };
}

function withOneValue(filter: Document): Document {
  const values = Object.entries(filter).map(([field, condition]: [string, unknown]) => [
    field,
    typeof condition === 'object' && condition !== null && '$in' in condition && field !== '_id'
      ? (condition.$in as unknown[])[0]
      : condition,
  ]);
  return Object.fromEntries(values) as Document;
}

function problemOf(stages: Document[], query: Query): string | null {
  const has = (name: string) => stages.some(({ stage }) => stage === name);
  if (has('SORT') && !namesIds(query.filter)) {
    return 'sorts in memory';
  }
  const isFirstOfAll = isOfAll(query) && query.isLimited;
  if (has('COLLSCAN')) {
    return isFirstOfAll && !query.sort ? null : 'reads the whole collection';
  }
  return stages.some(isWholeIndex) && !isFirstOfAll ? 'reads a whole index' : null;
}

function isOfAll({ filter }: Query): boolean {
  return Object.keys(filter).length === 0;
}

function namesIds({ _id }: Document): boolean {
  return typeof _id === 'string' || (typeof _id === 'object' && _id !== null && '$in' in _id);
}

/**
 * Returns whether the stage reads the whole index. A partial index is exempt, because it contains
 * only matching documents.
 */
function isWholeIndex({ stage, isPartial, keyPattern, indexBounds }: Document): boolean {
  const [first = ''] = Object.keys((keyPattern ?? {}) as Document);
  return stage === 'IXSCAN' && !isPartial && String(indexBounds?.[first]) === '[MinKey, MaxKey]';
}

function stagesIn(plan: unknown): Document[] {
  if (typeof plan !== 'object' || plan === null) {
    return [];
  }
  return [...('stage' in plan ? [plan] : []), ...Object.values(plan).flatMap(stagesIn)];
}
