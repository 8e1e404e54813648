import { UnreadableSheetError } from './csv-lines.js';
import { shorten } from './xml-tags.js';

/** Cells that are shown as one, of which only the first has a value in the file. */
export interface MergedRange {
  /** C2:C3. */
  name: string;
  lines: { first: number; last: number };
  /** From 0. */
  columns: { first: number; last: number };
}

/** @returns null for one cell alone. @throws UnreadableSheetError */
export function parseMergedRange(name: string): MergedRange | null {
  const [first, last, ...more] = name.split(':').map(parseCellName);
  if (!first || last === null || more.length > 0) {
    throw new UnreadableSheetError(`its first sheet has a merged range that is called ${shorten(name)}`);
  }
  return last === undefined
    ? null
    : {
        name,
        lines: { first: Math.min(first.line, last.line), last: Math.max(first.line, last.line) },
        columns: { first: Math.min(first.column, last.column), last: Math.max(first.column, last.column) },
      };
}

/** C12 is line 12, and column 2: those are counted from 0. Null for what is no such name. */
export function parseCellName(name: string): { line: number; column: number } | null {
  const [, letters, line] = /^([A-Z]{1,3})(\d{1,8})$/.exec(name) ?? [];
  if (letters === undefined) {
    return null;
  }
  let column = 0;
  for (const letter of letters) {
    column = column * 26 + letter.charCodeAt(0) - 64;
  }
  return { line: Number(line), column: column - 1 };
}
