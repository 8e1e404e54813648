/**
 * Returns the cell as Excel shows it: the plain value, or the text of a formula that is one quoted
 * string.
 * @throws Error for any other formula.
 */
export function excelValue(cell: string): string {
  const literal = /^="((?:[^"]|"")*)"$/.exec(cell)?.[1]?.replaceAll('""', '"');
  if (literal === undefined && /^[=+@\t\r\uff1d\uff0b\uff0d\uff20]|^-(?!\d+$)/.test(cell)) {
    throw new Error(`Excel would run ${cell}`);
  }
  return literal ?? cell;
}
