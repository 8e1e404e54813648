/**
 * What others write must not command what shows it, nor hide in it: control characters of both sets, separators of lines, marks
 * that turn the direction of a text around, characters without a width, halves of characters.
 */
const unseen = String.raw`\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff\ufff9-\ufffb`;
const unseenOnes = new RegExp(`[${unseen}]+`, 'gu');

/** What is refused where somebody writes text. Spelled out, for it stands in the contract: a `\p` is not known everywhere. */
export const printablePattern = new RegExp(`^[^${unseen}]*$`, 'u');

/** Of text whose own rule, which says more, comes after it. */
export const noControlPattern = /^[^\u0000-\u001f\u007f-\u009f]*$/;

/** One line that can be shown anywhere. */
export function toPrintable(text: string): string {
  return text.replace(unseenOnes, ' ').trim();
}

/** The same for every text within a value. */
export function toPrintableDeep<T>(value: T): T {
  if (typeof value === 'string') {
    return toPrintable(value) as T;
  }
  if (Array.isArray(value)) {
    return value.map(toPrintableDeep) as T;
  }
  if (typeof value !== 'object' || value === null || value instanceof Date) {
    return value;
  }
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, toPrintableDeep(each)])) as T;
}

const inLines =
  /[\u0000-\u0008\u000b-\u001a\u001c-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;
/** Any other sequence could hide what follows it, or move the cursor over what is there. */
const notOurColours = /\u001b(?!\[(?:0|1|2|22|3[1-6]|39|90)m)/g;

/** Lines for a terminal: their ends, tabs and the colours that we write stay. */
export function toPrintableLines(text: string): string {
  return text.replace(inLines, ' ').replace(notOurColours, ' ');
}

/** Text for a PDF in Courier, the font that every reader has. */

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
