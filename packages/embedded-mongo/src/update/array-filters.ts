import { MongoError } from '../errors.js';
import { compileFilter, type FilterOptions } from '../query/compile-filter.js';
import { keysOf } from '../values/fields.js';
import { isDoc, type Doc } from '../values/types.js';

/** The tests of array elements, by the identifier of the array filter. */
export type ArrayFilters = ReadonlyMap<string, (element: unknown) => boolean>;

/**
 * Compiles the array filters of an update.
 * @throws MongoError 9 if a filter does not have exactly one top-level field name, or if an
 * identifier is repeated. 2 if an identifier has an invalid form. 14 if a filter is not an object.
 * Also throws the errors of filters.
 */
export function compileArrayFilters(arrayFilters: readonly unknown[], options: FilterOptions): ArrayFilters {
  const compiled = new Map<string, (element: unknown) => boolean>();
  for (const arrayFilter of arrayFilters) {
    if (!isDoc(arrayFilter)) {
      throw new MongoError(14, 'each of arrayFilters must be an object');
    }
    const filter = compileFilter(arrayFilter, options);
    const names = new Set(identifiersOf(arrayFilter));
    const [identifier] = names;
    if (identifier === undefined) {
      throw new MongoError(9, 'Cannot use an expression without a top-level field name in arrayFilters');
    }
    if (names.size > 1) {
      throw new MongoError(9, `Expected a single top-level field name, found ${[...names].join(' and ')}`);
    }
    if (!/^[a-z][a-zA-Z0-9]*$/.test(identifier)) {
      throw new MongoError(
        2,
        `The top-level field name must be an alphanumeric string beginning with a lowercase letter, found '${identifier}'`,
      );
    }
    if (compiled.has(identifier)) {
      throw new MongoError(
        9,
        `Found multiple array filters with the same top-level field name ${identifier}`,
      );
    }
    compiled.set(identifier, (element) => filter({ [identifier]: element }));
  }
  return compiled;
}

/** Returns the first part of each path in a filter. */
function identifiersOf(filter: Doc): readonly string[] {
  return keysOf(filter).flatMap((key) => {
    if (!key.startsWith('$')) {
      return [key.split('.', 1)[0] ?? ''];
    }
    const operand = filter[key];
    return Array.isArray(operand) ? operand.filter(isDoc).flatMap(identifiersOf) : [];
  });
}
