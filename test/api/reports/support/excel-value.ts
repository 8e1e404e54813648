/** What Excel shows of a cell of CSV: the value of a formula that is one text in quotes, or what is there. */
export function excelValue(cell: string): string {
  const literal = /^="((?:[^"]|"")*)"$/.exec(cell)?.[1]?.replaceAll('""', '"');
  if (literal === undefined && /^[=+@\t\r\uff1d\uff0b\uff0d\uff20]|^-(?!\d+$)/.test(cell)) {
    throw new Error(`Excel would run ${cell}`);
  }
  return literal ?? cell;
}
