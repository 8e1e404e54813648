/** Returns the rows of the first table under a heading, without its header, as cells. */
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
