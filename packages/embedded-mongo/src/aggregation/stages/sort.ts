import type { Doc } from '../../values/types.js';
import { compileSort } from '../sort-pattern.js';
import type { SortPattern } from '../sort-pattern.js';
import type { Stage } from '../stage.js';

/** `$sort`: documents with equal keys stay in their order. */
export function compileSortStage(specification: unknown): Stage {
  const pattern = compileSort(specification);
  return (input) => sortDocuments(input, pattern);
}

/** Sorts documents by a pattern. */
function sortDocuments(input: Iterable<Doc>, pattern: SortPattern): Doc[] {
  const entries: { document: Doc; key: readonly unknown[] }[] = [];
  for (const document of input) {
    entries.push({ document, key: pattern.keyOf(document) });
  }
  return entries.sort((left, right) => pattern.compare(left.key, right.key)).map(({ document }) => document);
}
