/** Text for a PDF in Courier, the font that every reader has. */
import { toPrintable } from './printable.js';

/** All characters of Courier are as wide, by its size. */
export const characterWidth = 0.6;

/** What Courier has no letter for. */
const notShown = /[^\u0020-\u007e\u00a0-\u00ff]/gu;

/** One line as the font can show it. */
export function toLatin1(text: string): string {
  return toPrintable(text).replace(notShown, '?');
}

/** In lines of so many characters, at spaces where there are any. */
export function wrapText(text: string, columns: number): string[] {
  const lines: string[] = [];
  let rest = text;
  while (rest.length > columns) {
    const space = rest.lastIndexOf(' ', columns);
    const cut = space > 0 ? space : columns;
    lines.push(rest.slice(0, cut));
    rest = rest.slice(cut).trimStart();
  }
  return [...lines, rest];
}
