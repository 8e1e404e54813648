import { posix } from 'node:path';
import { UnreadableSheetError, type SheetLine } from './csv-lines.js';
import { type MergedRange, readSheetLines } from './rows.js';
import { readStyleFormats, readSharedTexts } from './cells.js';
import { getAttribute, shorten, readTags } from './xml.js';
import { listZip, unzipPart } from './zip.js';

/** Maximum size of an unpacked part, in bytes. A sheet of 10,000 lines has about 2 MB. */
const partBytesMax = 8 * 1024 * 1024;

/**
 * Yields the rows of a workbook's first sheet (ECMA-376), except empty ones. Texts and numbers are
 * returned as stored, and formulas as their stored result. A cell that is displayed differently, or
 * not at all, has a fault.
 *
 * Reading pauses regularly, and does not read further than the caller asks.
 * @param merged Receives the ranges of merged cells once all rows are read. The caller knows which
 * columns matter.
 * @throws UnreadableSheetError if the file is not a readable workbook, or if its first sheet is
 * hidden.
 */
export async function* readWorkbookLines(
  bytes: Uint8Array,
  merged: MergedRange[],
): AsyncGenerator<SheetLine> {
  const parts = listZip(bytes);
  const utf8 = new TextDecoder('utf-8', { fatal: true });
  // Only these parts are unpacked, and each only once.
  const textOf = async (name: string): Promise<string | null> => {
    const part = parts.get(name);
    return part ? utf8.decode(await unzipPart(bytes, part, partBytesMax)) : null;
  };
  const id = await findFirstSheetId((await textOf('xl/workbook.xml')) ?? '');
  const relations = await readRelations((await textOf('xl/_rels/workbook.xml.rels')) ?? '');
  const path = relations.find((each) => id !== undefined && each.id === id)?.path;
  const sheet = path === undefined ? null : await textOf(path);
  if (sheet === null) {
    throw new UnreadableSheetError('the workbook has no sheet');
  }
  const partOf = async (kind: string) =>
    (await textOf(relations.find(({ type }) => type.endsWith(`/${kind}`))?.path ?? `xl/${kind}.xml`)) ?? '';
  yield* readSheetLines(
    sheet,
    {
      texts: await readSharedTexts(await partOf('sharedStrings')),
      formatOf: await readStyleFormats(await partOf('styles')),
    },
    merged,
  );
}

/**
 * Returns the id of the sheet with the first tab. The file names do not reveal the order of the
 * tabs. Undefined if there is no sheet.
 */
async function findFirstSheetId(tabs: string): Promise<string | undefined> {
  for await (const some of readTags(tabs)) {
    const first = some.find(({ name, isEnd }) => name === 'sheet' && !isEnd);
    if (first && /hidden/i.test(getAttribute(first.of, 'state') ?? '')) {
      throw new UnreadableSheetError(
        `its first sheet (${shorten(getAttribute(first.of, 'name') ?? '')}) is hidden. Show it, or move the correct sheet before it`,
      );
    }
    if (first) {
      return getAttribute(first.of, 'id');
    }
  }
  return undefined;
}

interface Relation {
  id: string;
  type: string;
  /** Path of the part in the zip. */
  path: string;
}

/** More than the number of sheets and other parts in any real workbook. */
const relationsMax = 10_000;

async function readRelations(xml: string): Promise<Relation[]> {
  const relations: Relation[] = [];
  for await (const some of readTags(xml)) {
    for (const { name, isEnd, of } of some) {
      const target = getAttribute(of, 'Target');
      if (name !== 'Relationship' || isEnd || target === undefined) {
        continue;
      }
      if (relations.length === relationsMax) {
        throw new UnreadableSheetError(`the workbook has more than ${relationsMax} parts`);
      }
      relations.push({
        id: getAttribute(of, 'Id') ?? '',
        type: getAttribute(of, 'Type') ?? '',
        // The path names a part in the zip, not a file in the file system.
        path: posix.resolve('/xl', target).slice(1),
      });
    }
  }
  return relations;
}
