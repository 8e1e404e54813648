import { numberFormat, type NumberFormat } from './number-format.js';
import { attribute, createXmlError, readTags, unescaped } from './xml-tags.js';

/** No column of ours has as much; a cell that is shared by all rows must not be as large as the file each time. */
export const cellLengthMax = 1_000;

/** Texts that cells name by their number, without what tells how they are spoken. */
export async function sharedTexts(xml: string): Promise<string[]> {
  const texts: string[] = [];
  for await (const some of readTags(xml)) {
    for (const { name, isEnd, parent, text } of some) {
      if (parent === 't') {
        throw createXmlError();
      }
      if (name === 'si' && !isEnd) {
        texts.push('');
      } else if (name === 't' && !isEnd && parent !== 'rPh') {
        texts.push(`${texts.pop() ?? ''}${unescaped(text)}`.slice(0, cellLengthMax));
      }
    }
  }
  return texts;
}

/** The formats of cells by the number of their style. */
export async function formatsOfStyles(xml: string): Promise<(style: number) => NumberFormat> {
  const codes = new Map<string, string>();
  const styles: { id: string | undefined; base: number }[] = [];
  const bases: (string | undefined)[] = [];
  for await (const some of readTags(xml)) {
    for (const { name, isEnd, of, parent } of some) {
      if (isEnd) {
        continue;
      }
      const id = attribute(of, 'numFmtId');
      if (name === 'numFmt' && parent === 'numFmts') {
        codes.set(id ?? '', attribute(of, 'formatCode') ?? '');
      } else if (name === 'xf' && parent === 'cellXfs') {
        styles.push({ id, base: Number(attribute(of, 'xfId')) });
      } else if (name === 'xf' && parent === 'cellStyleXfs') {
        bases.push(id);
      }
    }
  }
  const known = new Map<string, NumberFormat>();
  // Looked up once a cell has it: formats may stand behind the styles that use them, and be many that nothing uses.
  return (style) => {
    const { id, base = 0 } = styles[style] ?? {};
    const number = id ?? bases[base] ?? '0';
    const format = known.get(number) ?? numberFormat(number, codes.get(number));
    known.set(number, format);
    return format;
  };
}
