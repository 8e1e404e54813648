import { attribute, noXml, tagsOf } from './xml-tags.js';

/** No column of ours has as much; a cell that is shared by all rows must not be as large as the file each time. */
export const cellLengthMax = 1_000;

/** Texts that cells name by their number, without what tells how they are spoken. */
export async function sharedTexts(xml: string): Promise<string[]> {
  const texts: string[] = [];
  for await (const some of tagsOf(xml)) {
    for (const { name, isEnd, parent, text } of some) {
      if (parent === 't') {
        throw noXml();
      }
      if (name === 'si' && !isEnd) {
        texts.push('');
      } else if (name === 't' && !isEnd && parent !== 'rPh') {
        texts.push(`${texts.pop() ?? ''}${text}`.slice(0, cellLengthMax));
      }
    }
  }
  return texts;
}

/** Formats that every workbook knows by their number: days, times, and those of East Asia. */
const knownDates = [
  [14, 22],
  [27, 36],
  [45, 47],
  [50, 58],
] as const;

/** Numbers of the styles that show a number as a date or a time. */
export async function dateStyles(xml: string): Promise<ReadonlySet<number>> {
  const formats = new Map<string, string>();
  const found = new Set<number>();
  let style = 0;
  for await (const some of tagsOf(xml)) {
    for (const { name, isEnd, of, parent } of some) {
      if (isEnd) {
        continue;
      }
      if (name === 'numFmt' && parent === 'numFmts') {
        formats.set(attribute(of, 'numFmtId') ?? '', attribute(of, 'formatCode') ?? '');
      } else if (name === 'xf' && parent === 'cellXfs') {
        // The formats stand before the styles that use them (ECMA-376, 18.8.39).
        const id = attribute(of, 'numFmtId') ?? '0';
        if (isDate(id, formats.get(id))) {
          found.add(style);
        }
        style += 1;
      }
    }
  }
  return found;
}

function isDate(id: string, code: string | undefined): boolean {
  if (code === undefined) {
    return knownDates.some(([first, last]) => Number(id) >= first && Number(id) <= last);
  }
  // No format is longer; and [h] is a time, [Red] a colour.
  const format = code.slice(0, 1_000);
  const shown = format.replaceAll(/"[^"]*"?|[\\_*].?|\[[^\]]*\]?/g, '');
  return /[dmyhs]/i.test(shown) || /\[(?:h+|m+|s+)\]/i.test(format);
}
