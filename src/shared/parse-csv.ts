/** RFC 4180, of a text that is in memory: quoted cells may hold commas, quotes and line ends. A byte order mark is no cell. */
export function parseCsv(text: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  const cells = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/g;
  for (const [whole, quoted, plain, end] of text.replace(/^\uFEFF/, '').matchAll(cells)) {
    if (whole === '' && row.length === 0) {
      break;
    }
    row.push(quoted === undefined ? (plain ?? '') : quoted.replaceAll('""', '"'));
    if (end !== ',') {
      if (row.length > 1 || row[0] !== '') {
        rows.push(row);
      }
      row = [];
    }
  }
  return rows;
}
