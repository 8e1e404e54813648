import { UnreadableSheetError, type SheetLine } from './csv-lines.js';
import { inSlices } from './in-slices.js';
import { listZip, unzipPart } from './zip-parts.js';

/** Unpacked, of one part: a sheet of 10,000 lines has some 2 MB. What is larger is not unpacked. */
const partBytesMax = 8 * 1024 * 1024;
const columnsMax = 50;
/** As in a CSV: a row is read in a bounded time. */
const cellsMax = 1_000;
/** No column of ours has as much; a cell that is shared by all rows must not be as large as the file each time. */
const cellLengthMax = 1_000;

/**
 * The rows of the first sheet of a workbook (ECMA-376), texts and numbers as they are stored; formulas by the value that was
 * kept with them. Empty rows are left out. Read with a pause now and then, and no further than somebody asks.
 * @throws UnreadableSheetError
 */
export async function* workbookLines(bytes: Uint8Array): AsyncGenerator<SheetLine> {
  const parts = listZip(bytes);
  const utf8 = new TextDecoder('utf-8', { fatal: true });
  // No other part is unpacked, however many there are; and each of these once.
  const textOf = async (name: string): Promise<string | null> => {
    const part = parts.get(name);
    return part ? utf8.decode(await unzipPart(bytes, part, partBytesMax)) : null;
  };
  const path = await pathOfFirstSheet(await textOf(workbook), await textOf(relations));
  const sheet = path === null ? null : await textOf(path);
  if (sheet === null) {
    throw new UnreadableSheetError('the workbook has no sheet');
  }
  yield* linesOf(sheet, await sharedTexts((await textOf(sharedStrings)) ?? ''));
}

const sharedStrings = 'xl/sharedStrings.xml';
const workbook = 'xl/workbook.xml';
const relations = 'xl/_rels/workbook.xml.rels';

/** The one whose tab stands first, which its file's name does not tell; null: there is none. */
async function pathOfFirstSheet(tabs: string | null, related: string | null): Promise<string | null> {
  const first = await firstTag(tabs ?? '', ({ name, isEnd }) => name === 'sheet' && !isEnd);
  const id = first && /\s(?:\w+:)?id="([^"]*)"/.exec(first.of)?.[1];
  const relation = await firstTag(
    related ?? '',
    ({ name, of }) => name === 'Relationship' && id !== undefined && attribute(of, 'Id') === id,
  );
  const target = relation && attribute(relation.of, 'Target');
  if (target === undefined) {
    return null;
  }
  return target.startsWith('/') ? target.slice(1) : `xl/${target}`;
}

interface Tag {
  name: string;
  isEnd: boolean;
  /** Its attributes. */
  of: string;
  isEmpty: boolean;
  /** What stands between it and the next one. */
  text: string;
}

async function firstTag(xml: string, isIt: (tag: Tag) => boolean): Promise<Tag | undefined> {
  for await (const tag of inSlices(tagsOf(xml))) {
    if (isIt(tag)) {
      return tag;
    }
  }
  return undefined;
}

/** One pass over the tags, each with the text that follows it: whatever the file is, it takes as long as it is large. */
function* tagsOf(xml: string): Generator<Tag> {
  for (const [, slash, name = '', of = '', empty, text = ''] of xml.matchAll(
    /<(\/?)(?:\w+:)?(\w+)((?:\s[^<>]*?)?)(\/?)>([^<]*)/g,
  )) {
    yield { name, isEnd: slash === '/', of, isEmpty: empty === '/', text: decoded(text) };
  }
}

async function sharedTexts(xml: string): Promise<string[]> {
  const texts: string[] = [];
  let isPhonetic = false;
  for await (const { name, isEnd, isEmpty, text } of inSlices(tagsOf(xml))) {
    if (name === 'si' && !isEnd) {
      texts.push('');
    } else if (name === 'rPh') {
      isPhonetic = !isEnd && !isEmpty;
    } else if (name === 't' && !isEnd && !isPhonetic) {
      texts.push(`${texts.pop() ?? ''}${text}`.slice(0, cellLengthMax));
    }
  }
  return texts;
}

async function* linesOf(xml: string, shared: readonly string[]): AsyncGenerator<SheetLine> {
  let line = 0;
  let cells: string[] = [];
  let column = -1;
  let type = '';
  let seen = 0;
  for await (const { name, isEnd, of, isEmpty, text } of inSlices(tagsOf(xml))) {
    if (name === 'row' && !isEnd) {
      const said = Number(attribute(of, 'r'));
      line = Number.isSafeInteger(said) && said > 0 ? said : line + 1;
      cells = [];
      column = -1;
      seen = 0;
    } else if (name === 'row') {
      if (cells.some((each) => each.trim() !== '')) {
        yield { line, cells: Array.from({ length: cells.length }, (_, n) => cells[n] ?? '') };
      }
    } else if (name === 'c' && !isEnd) {
      column = columnOf(attribute(of, 'r')) ?? column + 1;
      type = attribute(of, 't') ?? 'n';
      seen += 1;
      if (seen > cellsMax) {
        throw new UnreadableSheetError(`line ${line}: it has more than ${cellsMax} cells`);
      }
    } else if ((name === 'v' || name === 't') && !isEnd && !isEmpty && column >= 0 && column < columnsMax) {
      cells[column] = ((cells[column] ?? '') + valueOf(text, type, shared)).slice(0, cellLengthMax);
    }
  }
}

function valueOf(text: string, type: string, shared: readonly string[]): string {
  if (type === 's') {
    return shared[Number(text)] ?? '';
  }
  if (type === 'b') {
    return text === '1' ? 'TRUE' : 'FALSE';
  }
  // 1.05E4 is a whole number, too.
  return type === 'n' && text !== '' && Number.isFinite(Number(text)) ? String(Number(text)) : text;
}

function attribute(of: string, name: string): string | undefined {
  return new RegExp(`\\s${name}="([^"]*)"`).exec(of)?.[1];
}

/** From 0: C12 is 2. */
function columnOf(reference: string | undefined): number | undefined {
  const letters = /^[A-Z]{1,3}/.exec(reference ?? '')?.[0];
  if (letters === undefined) {
    return undefined;
  }
  let column = 0;
  for (const letter of letters) {
    column = column * 26 + letter.charCodeAt(0) - 64;
  }
  return column - 1;
}

const entities = new Map([
  ['amp', '&'],
  ['lt', '<'],
  ['gt', '>'],
  ['quot', '"'],
  ['apos', "'"],
]);

function decoded(text: string): string {
  return text.replaceAll(/&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|(\w+));/gi, (whole, hex, decimal, name) => {
    if (typeof name === 'string') {
      return entities.get(name) ?? whole;
    }
    const code = hex === undefined ? Number(decimal) : Number.parseInt(String(hex), 16);
    return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}
