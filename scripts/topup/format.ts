/** Text and tables for terminals. Colours appear only on a terminal. */
import pico from 'picocolors';

export const colours = pico.createColors(process.stdout.isTTY && pico.isColorSupported);

/** Formats aligned columns. The columns listed in `right` (counted from 0) are right-aligned. */
export function table(head: string[], rows: string[][], right: number[] = []): string {
  const widths = head.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => removeControlSequences(row[column] ?? '').length)),
  );
  const before = widths.slice(0, -1).reduce((sum, width) => sum + width + 2, 0);
  const line = (cells: string[]) => wrapLine(lineOf(cells), before);
  const lineOf = (cells: string[]) =>
    cells
      .map((cell, column) => {
        const gap = ' '.repeat(Math.max(0, (widths[column] ?? 0) - removeControlSequences(cell).length));
        return right.includes(column) ? gap + cell : cell + gap;
      })
      .join('  ')
      .trimEnd();
  return [colours.dim(line(head)), ...rows.map(line)].join('\n');
}

/**
 * A field name, or a heading with a function for the cell. Numbers are right-aligned and formatted
 * as rupiah.
 */
export type Column<Row> = (keyof Row & string) | [head: string, cell: (row: Row) => string | number | null];

export interface ListFormat<Row> {
  columns: Column<Row>[];
  /** The text for an empty list. */
  empty: string;
  /** Value of `--after` for the next page. */
  next?: string | null;
  searchedBackTo?: Date | string | null;
}

/** Formats rows as a table, or returns the text for none. */
export function listText<Row>(
  rows: readonly Row[],
  { columns, empty, next = null, searchedBackTo = null }: ListFormat<Row>,
): string {
  const heads = columns.map((column) =>
    typeof column === 'string' ? column.replace(/_at$/, '').replace(/_(?!id$)/g, ' ') : column[0],
  );
  const values = rows.map((row) =>
    columns.map((column) => (typeof column === 'string' ? row[column] : column[1](row))),
  );
  const right = columns.flatMap((_column, at) =>
    values.some((row) => typeof row[at] === 'number') ? [at] : [],
  );
  const cells = values.map((row) => row.map((value, at) => cellOf(columns[at], value)));
  return [
    rows.length === 0 ? empty : table(heads, cells, right),
    ...(next === null ? [] : [`More: --after ${/\s/.test(next) ? `"${next}"` : next}`]),
    ...(searchedBackTo === null ? [] : [`\nLooked back to ${time(searchedBackTo)}.`]),
  ].join('\n');
}

/** Fields whose numbers are not rupiah. */
const countColumns = /^(rounds|attempts)$/;

function cellOf(column: unknown, value: unknown): string {
  const name = typeof column === 'string' ? column : '';
  if (value === null || value === undefined) {
    return '-';
  }
  if (typeof value === 'number') {
    return countColumns.test(name) ? String(value) : rupiah(value);
  }
  if (value instanceof Date || /(^|_)at$/.test(name)) {
    return time(value as Date | string);
  }
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return name === 'status' ? status(text) : text;
}

/**
 * Wraps a line between words to the terminal width and indents the continuation lines. Returns the
 * line unchanged for a pipe or a narrow terminal.
 */
export function wrapLine(line: string, indent: number, width = process.stdout.columns): string {
  if (!(width > indent + 20) || removeControlSequences(line).length <= width) {
    return line;
  }
  const lines = [''];
  for (const word of line.split(/(?<=\S)(?=\s)/)) {
    const last = lines.at(-1) ?? '';
    if (removeControlSequences(last).length > indent && removeControlSequences(last + word).length > width) {
      lines.push(' '.repeat(indent) + word.trimStart());
    } else {
      lines[lines.length - 1] = last + word;
    }
  }
  return lines.join('\n');
}

/** Formats aligned `name   value` lines. Pairs with a null value are left out. */
export function facts(pairs: [string, string | null][]): string {
  const width = Math.max(...pairs.map(([name]) => name.length));
  return pairs
    .flatMap(([name, value]) =>
      value === null ? [] : [wrapLine(`${colours.dim(name.padEnd(width))}  ${value}`, width + 2)],
    )
    .join('\n');
}

export function formatHeading(text: string): string {
  return `\n${colours.bold(text)}`;
}

/** Formats `Rp 1.234.567`. */
export function rupiah(amount: number): string {
  return `Rp ${amount.toLocaleString('id-ID')}`;
}

let writeTime = (at: Date) => at.toISOString().replace('T', ' ');

/**
 * Sets the function that formats times. The time zone is a setting, which can be read only after
 * the service is found.
 */
export function writeTimesBy(write: (at: Date) => string): void {
  writeTime = write;
}

/** Formats `2026-11-21 17:20:30.123 WIB`, or a dash. */
export function time(at: Date | string | null | undefined): string {
  return at ? writeTime(new Date(at)) : '-';
}

/** Formats `3 s`, `12 min`, `5 h` or `2 d`. */
export function age(ms: number): string {
  const seconds = Math.round(ms / 1_000);
  if (seconds < 120) {
    return `${seconds} s`;
  }
  if (seconds < 7_200) {
    return `${Math.round(seconds / 60)} min`;
  }
  return seconds < 172_800 ? `${Math.round(seconds / 3_600)} h` : `${Math.round(seconds / 86_400)} d`;
}

/** Colours a status word by its meaning. */
export function status(word: string): string {
  if (/^(ok|active|success|delivered|completed|posted|enabled|resolved)$/i.test(word)) {
    return colours.green(word);
  }
  if (/^(fail|failed|dead|suspended|rejected|disabled|open)$/i.test(word)) {
    return colours.red(word);
  }
  return /^(warn|pending|processing|unknown|held|due)$/i.test(word) ? colours.yellow(word) : word;
}

const controlSequence = /\u001b\[[0-9;]*m/g;

function removeControlSequences(text: string): string {
  return text.replace(controlSequence, '');
}
