/** Returns the cells of each row in the first table below a heading, without the header row. */
export function readTableUnder(heading: string, text: string): string[][] {
  const [, section = ''] = text.split(`\n## ${heading}\n`);
  const [table = ''] = /(?:^\|.*\n)+/m.exec(section) ?? [];
  const lines = table.trim().split('\n').slice(2);
  return lines.map((line) =>
    line
      .replace(/^\| *| *\|$/g, '')
      .split('|')
      .map((cell) => cell.trim()),
  );
}
