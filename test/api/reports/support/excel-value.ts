/**
 * Returns the cell as Excel shows it: the value of a formula that is one quoted text, or the plain
 * value. Throws for any other formula.
 */
export function excelValue(cell: string): string {
  const literal = /^="((?:[^"]|"")*)"$/.exec(cell)?.[1]?.replaceAll('""', '"');
  if (literal === undefined && /^[=+@\t\r\uff1d\uff0b\uff0d\uff20]|^-(?!\d+$)/.test(cell)) {
    throw new Error(`Excel would run ${cell}`);
  }
  return literal ?? cell;
}
