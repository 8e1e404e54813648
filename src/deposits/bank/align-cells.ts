import { parseDirection } from './bank-cells.js';
import type { BankColumns } from './bank-columns.js';

/** Number of cells of the lines, known from the first line on. */
export interface RowShape {
  length: number | null;
}

/**
 * Returns the cells of a line, one for each heading. Null if it has more or fewer: then one of its
 * texts contains the separator, and its amounts would be read from the wrong columns.
 */
export function alignCells(
  cells: readonly string[],
  columns: BankColumns,
  shape: RowShape,
): readonly string[] | null {
  const { width, names } = columns;
  if (cells.length !== names.length && cells.length !== width) {
    return cells.length > names.length ? alignFromRight(cells, columns) : null;
  }
  // Headings may end with a separator. Then either all lines end with one, or none does.
  shape.length ??= cells.length;
  const isEndEmpty = cells.slice(width).every((each) => each.trim() === '');
  return isEndEmpty && cells.length === shape.length && isAnchored(cells, columns) ? cells : null;
}

/** False if the cell after an unquoted text shows that the cells are shifted. */
function isAnchored(cells: readonly string[], columns: BankColumns): boolean {
  const { layout } = columns;
  const anchor = (cells[findUnquoted(columns) + 1] ?? '').trim();
  return !layout?.unquoted || anchor === '' || layout.unquoted.anchor.test(anchor);
}

/** Returns the place of the text without quotes. It is -1 if the layout has none. */
function findUnquoted({ layout }: BankColumns): number {
  return layout?.columns.findIndex(([heading]) => heading === layout.unquoted?.text) ?? -1;
}

/** Joins the pieces of a text that the bank left unquoted. Null if the layout has no such text. */
function alignFromRight(cells: readonly string[], columns: BankColumns): readonly string[] | null {
  const { layout, names, kinds } = columns;
  const place = findUnquoted(columns);
  if (!layout?.unquoted || place < 0) {
    return null;
  }
  const end = place + 1 + cells.length - names.length;
  const aligned = [...cells.slice(0, place), cells.slice(place, end).join(','), ...cells.slice(end)];
  const { anchor } = layout.unquoted;
  const isAnchor = (each = '') => anchor.test(each.trim());
  // A second anchor within the text is the end of another line.
  const isClear = isAnchor(aligned[place + 1]) && !cells.slice(place, end).some(isAnchor);
  const hasDirection = kinds.every((each) => parseDirection(aligned[each] ?? '') !== null);
  const isOneLine = aligned.every((each) => !/[\r\n]/.test(each));
  return isClear && hasDirection && isOneLine ? aligned : null;
}
