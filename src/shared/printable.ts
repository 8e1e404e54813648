/**
 * Characters that could control the display of a text or hide in it: control characters, line
 * separators, direction marks, zero-width characters, lone surrogates.
 */
const invisibleCharacters = String.raw`\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff\ufff9-\ufffb`;
const invisiblePattern = new RegExp(`[${invisibleCharacters}]+`, 'gu');

/**
 * Text input without these characters. The characters are listed explicitly, because the pattern is
 * part of the contract and not every regular expression engine supports `\p`.
 */
export const printablePattern = new RegExp(`^[^${invisibleCharacters}]*$`, 'u');

/** For text that a more specific rule checks afterwards. */
export const noControlPattern = /^[^\u0000-\u001f\u007f-\u009f]*$/;

/** Returns a text as one line that can be shown anywhere. */
export function toPrintable(text: string): string {
  return text.replace(invisiblePattern, ' ').trim();
}

/** Applies `toPrintable` to every text within a value. */
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

const controlPattern =
  /[\u0000-\u0008\u000b-\u001a\u001c-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;
/**
 * Any escape sequence except our colours. It could hide text or move the cursor over other text.
 */
const foreignEscapePattern = /\u001b(?!\[(?:0|1|2|22|3[1-6]|39|90)m)/g;

/** Returns lines for a terminal. Line ends, tabs and our own colours are kept. */
export function toPrintableLines(text: string): string {
  return text.replace(controlPattern, ' ').replace(foreignEscapePattern, ' ');
}

/** Width of every character of Courier, in font sizes. Every PDF reader has this font. */
export const characterWidth = 0.6;

/** Characters that Courier lacks. */
const nonLatin1Pattern = /[^\u0020-\u007e\u00a0-\u00ff]/gu;

/** Returns a text as one line that Courier can show. Other characters become question marks. */
export function toLatin1(text: string): string {
  return toComposed(text).replace(nonLatin1Pattern, '?');
}

/** True if `toLatin1` loses no character. */
export function isLatin1(text: string): boolean {
  return toLatin1(text) === toComposed(text);
}

/** Latin-1 has only the composed form of a letter with an accent. */
function toComposed(text: string): string {
  return toPrintable(text).normalize('NFC');
}

/** Wraps a text into lines of at most `columns` characters, at spaces where possible. */
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
