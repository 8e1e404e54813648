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
