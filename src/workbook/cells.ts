import { numberFormat, type NumberFormat, showsAsStored } from './number-format.js';
import { attribute, createXmlError, readTags, unescaped } from './xml.js';
import type { CellFault } from './csv-lines.js';

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

/** What cells refer to. */
export interface Book {
  texts: readonly string[];
  /** By the number of a style. */
  formatOf: (style: number) => NumberFormat;
}

/** One as it is stored. */
export interface Cell {
  /** C12. */
  name: string;
  type: string;
  style: number;
  isFormula: boolean;
  value: string | null;
  /** A text that stands in the cell itself. */
  inline: string | null;
}

interface Content {
  text: string;
  fault?: CellFault;
}

const unreadable: Content = { text: '', fault: 'unreadable-cell' };

/** What a cell says. Empty is only what has nothing in it: a formula without its result, or a value that
 * cannot be read or is shown as another, is a fault. */
export function readContent(cell: Cell, book: Book): Content {
  const isInline = cell.type === 'inlineStr';
  const said = (isInline ? cell.inline : cell.value) ?? '';
  // Which of two would be meant?
  if (((isInline ? cell.value : cell.inline) ?? '') !== '') {
    return unreadable;
  }
  if (cell.isFormula && said.trim() === '') {
    return { text: '', fault: 'no-result' };
  }
  if (said === '' && cell.type !== 's') {
    return { text: '' };
  }
  const content = readValue(said, cell, book);
  return { ...content, text: content.text.slice(0, cellLengthMax) };
}

function readValue(
  said: string,
  { type, style, isFormula, value }: Cell,
  { texts, formatOf }: Book,
): Content {
  switch (type) {
    case 's': {
      const text = /^\d{1,9}$/.test(said) ? texts[Number(said)] : undefined;
      return value === null ? { text: '' } : text === undefined ? unreadable : { text };
    }
    case 'n': {
      if (!/^[+-]?(?:\d{1,400}(?:\.\d{0,400})?|\.\d{1,400})(?:e[+-]?\d{1,3})?$/i.test(said.trim())) {
        return unreadable;
      }
      // Programs that do not work out what they write leave a nought.
      if (isFormula && Number(said) === 0) {
        return { text: '', fault: 'no-result' };
      }
      // 1.05E4 is a whole number, too.
      const text = String(Number(said));
      const format = formatOf(style);
      if (format === 'date') {
        return { text, fault: 'is-date' };
      }
      return showsAsStored(format, Number(said)) ? { text } : unreadable;
    }
    case 'd':
      return { text: said, fault: 'is-date' };
    case 'b':
      return { text: said === '1' || said === 'true' ? 'TRUE' : 'FALSE' };
    case 'str':
    case 'inlineStr':
      return { text: unescaped(said) };
    case 'e':
      return { text: said };
    default:
      return unreadable;
  }
}
