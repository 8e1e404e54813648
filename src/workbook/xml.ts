import { UnreadableSheetError } from './csv-lines.js';
import { iterateInSlices } from '../shared/collections.js';
import { toPrintable } from '../shared/printable.js';

export interface Tag {
  name: string;
  isEnd: boolean;
  isEmpty: boolean;
  /** Its attributes. */
  of: string;
  /** The name of the element that it stands in; empty: in none. */
  parent: string;
  /** What stands between it and the next one, without comments. */
  text: string;
}

/** Spreadsheets stand some ten deep; what nests without an end costs as much as it nests. */
const depthMax = 50;
/** A sheet of 8 MB that somebody has filled has half as many. */
const elementsMax = 1_000_000;
/** Comments, instructions and CDATA between two tags. */
const marksMax = 1_000;
/** No text of ours is as long, with each of its characters as an entity; what follows is not looked at. */
const textMax = 20_000;
/** A pause for each tag would cost more than reading it. */
const atOnce = 500;

/**
 * The tags of a part of a workbook, some at once, with a pause now and then. Comments and instructions to programs are left out;
 * CDATA is text. Names are without their prefixes.
 * @throws UnreadableSheetError for what is no XML as those programs write it that make workbooks, nests too deeply, or has too much.
 */
export async function* readTags(xml: string): AsyncGenerator<Tag[]> {
  yield* iterateInSlices(batchTags(eachTag(xml)));
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

/** The longest attribute is a list of the cells that some condition colours. A tag as large as its part has no end for `tagForm`. */
const tagLengthMax = 600_000;
/** Bounded in each of its parts, too, so that what is no tag is no work. */
const tagForm =
  /^<(\/?)(?:[\w.-]{1,100}:)?([\w.-]{1,100})((?:\s{1,1000}[\w:.-]{1,200}\s{0,100}=\s{0,100}(?:"[^"<]{0,500000}"|'[^'<]{0,500000}')){0,200})\s{0,1000}(\/?)>/;

/** One pass: whatever the part is, it takes as long as it is large. */
function* eachTag(xml: string): Generator<Tag> {
  const open: string[] = [];
  let elements = 0;
  let place = readText(xml, 0).next;
  while (place < xml.length) {
    const [whole, slash, name = '', of = '', empty] =
      tagForm.exec(xml.slice(place, place + tagLengthMax)) ?? [];
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
      `the workbook has a part in which more than ${depthMax} elements stand within each other`,
    );
  }
  if (elements > elementsMax) {
    throw new UnreadableSheetError(`the workbook has a part of more than ${elementsMax} elements`);
  }
}

export function createXmlError(): UnreadableSheetError {
  return new UnreadableSheetError('the workbook has a part that is no XML as workbooks have it');
}

const marks = [
  { start: '<!--', end: '-->', isText: false },
  { start: '<![CDATA[', end: ']]>', isText: true },
  { start: '<?', end: '?>', isText: false },
] as const;

/** The text from there to the next tag, and where that begins. What else is declared (`<!DOCTYPE`) no workbook has. */
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

/** Of attributes as they stand in a tag, so that what looks like one within another is none. */
const attributeForm = /\s+(?:[\w.-]+:)?([\w.-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/y;

/** @param name Without its prefix. */
export function attribute(of: string, name: string): string | undefined {
  // Most have none, or others.
  if (!of.includes(name)) {
    return undefined;
  }
  attributeForm.lastIndex = 0;
  for (let found = attributeForm.exec(of); found !== null; found = attributeForm.exec(of)) {
    if (found[1] === name) {
      return decodeEntity(found[2] ?? found[3] ?? '');
    }
  }
  return undefined;
}

/** A text of a workbook, in which `_x0031_` is the character of that number, and `_x005F_` the first of what only looks like one. */
export function unescaped(text: string): string {
  return text.replaceAll(/_x([0-9a-f]{4})_/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
}

/** Whether it says yes; it may say so in two ways. */
export function isTrueAttribute(of: string, name: string): boolean {
  return ['1', 'true'].includes(attribute(of, name) ?? '');
}

/** What a refusal may repeat of a file: no sheet of Excel has a longer name. */
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

function decodeEntity(text: string): string {
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
