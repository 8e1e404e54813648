import { UnreadableSheetError } from './csv-lines.js';
import { iterateInSlices } from '../shared/collections.js';
import { toPrintable } from '../shared/printable.js';

export interface Tag {
  name: string;
  isEnd: boolean;
  isEmpty: boolean;
  /** Attributes, as they are written. */
  of: string;
  /** Name of the enclosing element. Empty if there is none. */
  parent: string;
  /** Text between this tag and the next one, without comments. */
  text: string;
}

/** Spreadsheets nest about ten levels deep. The cost grows with the depth. */
const depthMax = 50;
/** Twice the number of elements in a full sheet of 8 MB. */
const elementsMax = 1_000_000;
/** Maximum number of comments, instructions and CDATA sections between two tags. */
const marksMax = 1_000;
/** Longer than any of our texts with each character written as an entity. The rest is ignored. */
const textMax = 20_000;
/** Number of tags per batch. A pause for each tag would cost more than reading the tag. */
const atOnce = 500;

/**
 * Yields the tags of a part of a workbook in batches, with regular pauses. Comments and processing
 * instructions are skipped, CDATA is returned as text, and names are returned without a prefix.
 * @throws UnreadableSheetError if the XML has constructs that spreadsheet programs do not write,
 * nests too deeply, or is too large.
 */
export async function* readTags(xml: string): AsyncGenerator<Tag[]> {
  yield* iterateInSlices(batchTags(parseTags(xml)));
}

function* batchTags(tags: Iterable<Tag>): Generator<Tag[]> {
  let some: Tag[] = [];
  for (const tag of tags) {
    some.push(tag);
    if (some.length === atOnce) {
      yield some;
      some = [];
    }
  }
  yield some;
}

/**
 * Maximum length of a tag. The longest attribute lists the cells of a conditional format. `tagPattern`
 * does not match a longer tag.
 */
const tagLengthMax = 600_000;
/** Each part is bounded, so that text that is not a tag is rejected cheaply. */
const tagPattern =
  /^<(\/?)(?:[\w.-]{1,100}:)?([\w.-]{1,100})((?:\s{1,1000}[\w:.-]{1,200}\s{0,100}=\s{0,100}(?:"[^"<]{0,500000}"|'[^'<]{0,500000}')){0,200})\s{0,1000}(\/?)>/;

/** Reads the part in one pass, so that the time grows linearly with its size. */
function* parseTags(xml: string): Generator<Tag> {
  const open: string[] = [];
  let elements = 0;
  let place = readText(xml, 0).next;
  while (place < xml.length) {
    const [whole, slash, name = '', of = '', empty] =
      tagPattern.exec(xml.slice(place, place + tagLengthMax)) ?? [];
    if (whole === undefined) {
      throw createXmlError();
    }
    const { text, next } = readText(xml, place + whole.length);
    place = next;
    const isEnd = slash === '/';
    const isEmpty = empty === '/';
    if (isEnd && (isEmpty || open.pop() !== name)) {
      throw createXmlError();
    }
    const tag = { name, isEnd, isEmpty, of, parent: open.at(-1) ?? '', text };
    if (!isEnd) {
      elements += 1;
      if (!isEmpty) {
        open.push(name);
      }
      refuseTooMuch(elements, open.length);
    }
    yield tag;
  }
  if (open.length > 0) {
    throw createXmlError();
  }
}

function refuseTooMuch(elements: number, depth: number): void {
  if (depth > depthMax) {
    throw new UnreadableSheetError(
      `the workbook has a part whose elements nest more than ${depthMax} levels deep`,
    );
  }
  if (elements > elementsMax) {
    throw new UnreadableSheetError(`the workbook has a part of more than ${elementsMax} elements`);
  }
}

export function createXmlError(): UnreadableSheetError {
  return new UnreadableSheetError('the workbook has a part that is not valid workbook XML');
}

const marks = [
  { start: '<!--', end: '-->', isText: false },
  { start: '<![CDATA[', end: ']]>', isText: true },
  { start: '<?', end: '?>', isText: false },
] as const;

/**
 * Returns the text before the next tag, and the index of that tag. Other declarations, such as
 * `<!DOCTYPE`, are refused, because workbooks contain none.
 */
function readText(xml: string, place: number): { text: string; next: number } {
  let text = '';
  let next = place;
  for (let seen = 0; seen <= marksMax; seen += 1) {
    const found = xml.indexOf('<', next);
    const end = found < 0 ? xml.length : found;
    if (end > next) {
      text += decodeEntity(xml.slice(next, Math.min(end, next + textMax)));
    }
    if (xml[end + 1] !== '!' && xml[end + 1] !== '?') {
      return { text, next: end };
    }
    const mark = marks.find(({ start }) => xml.startsWith(start, end));
    const from = end + (mark?.start.length ?? 0);
    const to = mark ? xml.indexOf(mark.end, from) : -1;
    if (!mark || to < 0) {
      throw createXmlError();
    }
    text += mark.isText ? xml.slice(from, Math.min(to, from + textMax)) : '';
    next = to + mark.end.length;
  }
  throw createXmlError();
}

/** Matches attributes one after the other, so that text in a value never counts as an attribute. */
const attributePattern = /\s+(?:[\w.-]+:)?([\w.-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/y;

/**
 * Returns the value of an attribute.
 * @param name Name without its prefix.
 */
export function getAttribute(of: string, name: string): string | undefined {
  // Most tags lack the attribute, and this check is cheap.
  if (!of.includes(name)) {
    return undefined;
  }
  attributePattern.lastIndex = 0;
  for (let found = attributePattern.exec(of); found !== null; found = attributePattern.exec(of)) {
    if (found[1] === name) {
      return decodeEntity(found[2] ?? found[3] ?? '');
    }
  }
  return undefined;
}

/**
 * Decodes a text of a workbook. `_x0031_` stands for the character with that code, and `_x005F_`
 * escapes an underscore.
 */
export function unescapeText(text: string): string {
  return text.replaceAll(/_x([0-9a-f]{4})_/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
}

/** True for the values `1` and `true`. */
export function isTrueAttribute(of: string, name: string): boolean {
  return ['1', 'true'].includes(getAttribute(of, name) ?? '');
}

/**
 * Shortens a text from a file for an error message. Sheet names in Excel are not longer than that.
 */
export function shorten(text: string): string {
  return toPrintable(text.slice(0, 40));
}

const entities = new Map([
  ['amp', '&'],
  ['lt', '<'],
  ['gt', '>'],
  ['quot', '"'],
  ['apos', "'"],
]);

export function decodeEntity(text: string): string {
  if (!text.includes('&')) {
    return text;
  }
  return text.replaceAll(/&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|(\w+));/gi, (whole, hex, decimal, name) => {
    if (typeof name === 'string') {
      return entities.get(name) ?? whole;
    }
    const code = hex === undefined ? Number(decimal) : Number.parseInt(String(hex), 16);
    return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}
