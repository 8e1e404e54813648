import { MongoError } from '../errors.js';
import { equalValues } from '../values/compare.js';
import { keysOf } from '../values/fields.js';
import { isNaNValue } from '../values/numbers.js';
import { BSON, isDoc, typeOf, type BsonType, type Doc } from '../values/types.js';
import { filterBounds, type PathBounds } from '../query/filter-bounds.js';
import type { Collection } from './collection.js';
import { filterImplies } from './implies.js';
import type { Index } from './index-definition.js';
import { computeIndexBounds, prefixRange, type IndexBounds } from './index-bounds.js';
import { countEntries } from './sorted-list.js';

/**
 * A plan for finding the documents of a query. It may find additional documents, so the filter is
 * always applied to the documents that it finds.
 */
export type Plan = ScanPlan | IndexPlan | UnionPlan;

/** Reads all documents in insertion order. */
interface ScanPlan {
  kind: 'scan';
  backward: boolean;
}

export interface IndexPlan {
  kind: 'index';
  index: Index;
  bounds: IndexBounds;
  /** True if the index returns the documents in the order of the query's sort. */
  sorted: boolean;
  backward: boolean;
}

/** Reads the documents of an `$or`. Each branch uses an index. */
interface UnionPlan {
  kind: 'union';
  branches: IndexPlan[];
}

export interface PlannedQuery {
  filter: Doc;
  /** The sort that the client sent. Undefined or an empty document means no sort. */
  sort: Doc | undefined;
  hint: unknown;
}

/**
 * Chooses the plan of a query.
 * @throws MongoError 2 if the hint names no index of the collection.
 */
export function planQuery(collection: Collection, { filter, sort, hint }: PlannedQuery): Plan {
  const order = sortFields(sort);
  const natural = naturalOrder(sort) ?? naturalOrder(isDoc(hint) ? hint : undefined);
  if (natural !== undefined) {
    return { kind: 'scan', backward: natural < 0 };
  }
  const bounds = filterBounds(filter);
  if (hint !== undefined && hint !== null) {
    const index = hintedIndex(collection, hint);
    return indexPlan(index, { bounds, order }) ?? wholeIndex(index, order);
  }
  let best: { plan: IndexPlan; score: number } | undefined;
  for (const index of collection.indexes) {
    const plan = isUsable(index, { filter, bounds }) ? indexPlan(index, { bounds, order }) : undefined;
    const score = plan === undefined ? 0 : scoreOf(plan);
    if (
      plan !== undefined &&
      (best === undefined || score > best.score || (score === best.score && readsLess(plan, best.plan)))
    ) {
      best = { plan, score };
    }
  }
  // Without bounds, the index provides only the order, and all documents must be read. An `$or`
  // with bounds in each branch reads fewer.
  if (best === undefined || best.plan.bounds.points + best.plan.bounds.ranged === 0) {
    const union = unionPlan(collection, filter);
    if (union !== undefined) {
      return union;
    }
  }
  return (
    best?.plan ?? partialPlan(collection, { filter, bounds, order }) ?? { kind: 'scan', backward: false }
  );
}

/**
 * Returns a plan that reads a whole partial index. It is used if the index contains every matching
 * document, because the index is smaller than the collection.
 */
function partialPlan(
  collection: Collection,
  query: { filter: Doc; bounds: ReadonlyMap<string, PathBounds>; order: readonly SortField[] },
): IndexPlan | undefined {
  const index = collection.indexes.find((each) => each.partialFilter !== null && isUsable(each, query));
  return index && wholeIndex(index, query.order);
}

/**
 * True if the documents within the index bounds are exactly the matching documents. The filter then
 * has only plain values for the leading fields, and at most one range for the next field.
 */
export function boundsMatchFilterExactly({ index, bounds }: IndexPlan, filter: Doc): boolean {
  return keysOf(filter).every((path) => {
    const position = index.fields.findIndex((field) => field.path === path);
    if (position < bounds.points) {
      return position >= 0 && isPlainEquality(filter[path]);
    }
    // In an array, one element may satisfy the lower bound and a different element the upper bound.
    const isRanged = position === bounds.points && bounds.ranged === 1 && index.multikey[position] !== true;
    return isRanged && isPlainRange(filter[path]);
  });
}

function isPlainEquality(condition: unknown): boolean {
  if (!isDoc(condition)) {
    return isPlainScalar(condition);
  }
  const [operator, ...others] = keysOf(condition);
  const operand = condition[operator ?? ''];
  return (
    others.length === 0 &&
    ((operator === '$eq' && isPlainScalar(operand)) ||
      (operator === '$in' && Array.isArray(operand) && operand.every(isPlainScalar)))
  );
}

/**
 * True for a condition with at most one lower and one upper bound, and without NaN as a bound.
 */
function isPlainRange(condition: unknown): boolean {
  const operators = isDoc(condition) ? keysOf(condition) : [];
  const sides = new Set(operators.map((operator) => operator.slice(0, 3)));
  return (
    isDoc(condition) &&
    sides.size === operators.length &&
    operators.every(
      (operator) =>
        /^\$[gl]te?$/.test(operator) &&
        isPlainScalar(condition[operator]) &&
        !isNaNValue(condition[operator]),
    )
  );
}

const PLAIN_TYPES: ReadonlySet<BsonType> = new Set([
  BSON.string,
  BSON.int,
  BSON.long,
  BSON.double,
  BSON.decimal,
  BSON.bool,
  BSON.objectId,
  BSON.date,
  BSON.timestamp,
]);

function isPlainScalar(value: unknown): boolean {
  return PLAIN_TYPES.has(typeOf(value));
}

/** Returns the index whose name or key equals the hint. */
function hintedIndex(collection: Collection, hint: unknown): Index {
  const index = collection.indexes.find(
    ({ name, spec }) => hint === name || (isDoc(hint) && sameKey(spec['key'], hint)),
  );
  if (index === undefined) {
    throw new MongoError(
      2,
      'error processing query: planner returned error :: caused by :: hint provided does not correspond to an existing index',
    );
  }
  return index;
}

/** True if both keys have the same paths in the same order with the same directions. */
export function sameKey(a: unknown, b: Doc): boolean {
  return (
    isDoc(a) &&
    keysOf(a).join('\0') === keysOf(b).join('\0') &&
    keysOf(a).every((path) => equalValues(a[path], b[path]))
  );
}

function unionPlan(collection: Collection, filter: Doc): UnionPlan | undefined {
  const alternatives = filter['$or'];
  if (!Array.isArray(alternatives)) {
    return undefined;
  }
  const rest = Object.fromEntries(Object.entries(filter).filter(([field]) => field !== '$or'));
  const branches: IndexPlan[] = [];
  for (const alternative of alternatives as Doc[]) {
    const branch = planQuery(collection, {
      filter: { $and: [rest, alternative] },
      sort: undefined,
      hint: undefined,
    });
    if (branch.kind === 'scan') {
      return undefined;
    }
    branches.push(...(branch.kind === 'index' ? [branch] : branch.branches));
  }
  return { kind: 'union', branches };
}

/** True if the index is known to contain every document that matches the filter. */
function isUsable(
  index: Index,
  { filter, bounds }: { filter: Doc; bounds: ReadonlyMap<string, PathBounds> },
): boolean {
  if (index.spec['hidden'] === true) {
    return false;
  }
  if (index.partialFilter !== null && !filterImplies(filter, bounds, index.partialFilter)) {
    return false;
  }
  return !index.sparse || index.fields.some(({ path }) => bounds.get(path)?.exists === true);
}

function indexPlan(
  index: Index,
  { bounds, order }: { bounds: ReadonlyMap<string, PathBounds>; order: readonly SortField[] },
): IndexPlan | undefined {
  const found = computeIndexBounds(index, bounds);
  const direction = orderThrough(index, { found, bounds, order });
  if (found.points === 0 && found.ranged === 0 && direction === 0) {
    return undefined;
  }
  return { kind: 'index', index, bounds: found, sorted: direction !== 0, backward: direction < 0 };
}

function wholeIndex(index: Index, order: readonly SortField[]): IndexPlan {
  const bounds: IndexBounds = { ranges: [prefixRange('')], points: 0, ranged: 0, shown: {} };
  const direction = orderThrough(index, { found: bounds, bounds: new Map(), order });
  return { kind: 'index', index, bounds, sorted: direction !== 0, backward: direction < 0 };
}

function scoreOf({ index, bounds, sorted }: IndexPlan): number {
  // If every field of a unique index has a single value, at most one document matches. Such an
  // index is better than any other.
  const isNamed = index.unique && bounds.points === index.fields.length;
  return bounds.points * 10 + bounds.ranged * 5 + (sorted ? 4 : 0) + (isNamed ? 50 : 0);
}

/**
 * True if a plan reads fewer index entries than another one with the same score. Entries are
 * counted only if one of the plans reads several ranges.
 */
function readsLess(plan: IndexPlan, other: IndexPlan): boolean {
  return (
    plan.bounds.ranges.length + other.bounds.ranges.length > 2 && entriesWithin(plan) < entriesWithin(other)
  );
}

function entriesWithin({ index, bounds }: IndexPlan): number {
  const stats = { keysExamined: 0 };
  return bounds.ranges.reduce((sum, range) => sum + countEntries(index.entries, range, stats), 0);
}

interface SortField {
  path: string;
  sign: 1 | -1;
}

function sortFields(sort: Doc | undefined): SortField[] {
  return sort === undefined
    ? []
    : keysOf(sort).map((path) => ({ path, sign: Number(sort[path]) < 0 ? -1 : 1 }));
}

function naturalOrder(doc: Doc | undefined): number | undefined {
  const natural = doc?.['$natural'];
  return natural === undefined ? undefined : Number(natural);
}

/**
 * Returns 1 or -1 if reading the index forwards or backwards returns the documents in the requested
 * order. Returns 0 if neither does, or if no order is requested.
 */
function orderThrough(
  index: Index,
  {
    found,
    bounds,
    order,
  }: { found: IndexBounds; bounds: ReadonlyMap<string, PathBounds>; order: readonly SortField[] },
): 0 | 1 | -1 {
  if (order.length === 0 || found.ranges.length !== 1) {
    return 0;
  }
  const isFixed = (path: string, i: number): boolean =>
    i < found.points && (bounds.get(path)?.equal.some(({ length }) => length === 1) ?? false);
  let direction: 0 | 1 | -1 = 0;
  let at = 0;
  for (const { path, sign } of order) {
    const position = index.fields.findIndex((field) => field.path === path);
    if (position >= 0 && isFixed(path, position) && index.multikey[position] !== true) {
      continue;
    }
    while (at < index.fields.length && isFixed(index.fields[at]?.path ?? '', at)) {
      at += 1;
    }
    const field = index.fields[at];
    if (field?.path !== path || index.multikey[at] === true) {
      return 0;
    }
    const way = field.descending ? (sign === 1 ? -1 : 1) : sign;
    if (direction !== 0 && way !== direction) {
      return 0;
    }
    direction = way;
    at += 1;
  }
  return direction === 0 ? 1 : direction;
}
