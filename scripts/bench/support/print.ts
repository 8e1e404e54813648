import { median } from './rounds.js';

/** Prints a table with columns as wide as their widest cell, numbers right-aligned. */
export function printTable(head: string[], rows: (string | number)[][]): void {
  const cells = rows.map((row) => row.map((cell) => (typeof cell === 'number' ? formatValue(cell) : cell)));
  const widths = head.map((title, at) =>
    Math.max(title.length, ...cells.map((row) => (row[at] ?? '').length)),
  );
  const line = (row: string[]) =>
    row
      .map((cell, at) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0)))
      .join('  ');
  [head, ...cells].forEach((row) => console.log(line(row)));
}

/** Formats at most three digits, because results vary by a tenth from run to run. */
export function formatValue(value: number): string {
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return Number.isNaN(value) ? '-' : value.toFixed(digits);
}

/** Returns the medians of records with the same names, largest first. */
export function medians(all: Record<string, number>[]): [name: string, value: number][] {
  const names = new Set(all.flatMap((each) => Object.keys(each)));
  return [...names]
    .map((name): [string, number] => [name, median(all.map((each) => each[name] ?? 0))])
    .sort((a, b) => b[1] - a[1]);
}

/** Returns text such as `find 1.2, commitTransaction 0.4`. */
export function formatList(all: Record<string, number>[], least = 0.005): string {
  return medians(all)
    .filter(([, value]) => value >= least)
    .map(([name, value]) => `${name} ${formatValue(value)}`)
    .join(', ');
}

/** Prints one line: the goal, the result, and whether the goal is reached. */
export function printGoal(
  what: string,
  {
    goal,
    reached,
    unit,
    wanted,
  }: { goal: number; reached: number; unit: string; wanted: 'at least' | 'at most' },
): void {
  const isReached = wanted === 'at least' ? reached >= goal : reached <= goal;
  console.log(
    `goal: ${what} ${wanted} ${formatValue(goal)} ${unit}; measured ${formatValue(reached)} ${unit}: ${isReached ? 'reached' : 'below'}`,
  );
}

/**
 * @throws Error unless the condition is true. Figures of a service that lost data are worthless.
 */
export function requireTrue(condition: boolean, what: string): void {
  if (!condition) {
    throw new Error(`Invalid measurement: ${what}`);
  }
}
