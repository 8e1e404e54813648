import { getNumberFormat, type NumberFormat, showsAsStored } from './number-format.js';
import { getAttribute, createXmlError, readTags, unescapeText } from './xml.js';
import type { CellFault } from './csv-lines.js';

/**
 * Maximum length of the text of a cell, longer than any valid value. It also limits shared texts,
 * which any number of cells may refer to.
 */
export const cellLengthMax = 1_000;

/** Returns the texts that cells refer to by number, without their pronunciation. */
export async function readSharedTexts(xml: string): Promise<string[]> {
  const texts: string[] = [];
  for await (const some of readTags(xml)) {
    for (const { name, isEnd, parent, text } of some) {
      if (parent === 't') {
        throw createXmlError();
      }
      if (name === 'si' && !isEnd) {
        texts.push('');
      } else if (name === 't' && !isEnd && parent !== 'rPh') {
        texts.push(`${texts.pop() ?? ''}${unescapeText(text)}`.slice(0, cellLengthMax));
      }
    }
  }
  return texts;
}

/** Returns a function that finds the format of a style by the style's number. */
export async function readStyleFormats(xml: string): Promise<(style: number) => NumberFormat> {
  const codes = new Map<string, string>();
  const styles: { id: string | undefined; base: number }[] = [];
  const bases: (string | undefined)[] = [];
  for await (const some of readTags(xml)) {
    for (const { name, isEnd, of, parent } of some) {
      if (isEnd) {
        continue;
      }
      const id = getAttribute(of, 'numFmtId');
      if (name === 'numFmt' && parent === 'numFmts') {
        codes.set(id ?? '', getAttribute(of, 'formatCode') ?? '');
      } else if (name === 'xf' && parent === 'cellXfs') {
        styles.push({ id, base: Number(getAttribute(of, 'xfId')) });
      } else if (name === 'xf' && parent === 'cellStyleXfs') {
        bases.push(id);
      }
    }
  }
  const known = new Map<string, NumberFormat>();
  // Formats are resolved when a cell uses them, because they may follow the styles that use them
  // and many are unused.
  return (style) => {
    const { id, base = 0 } = styles[style] ?? {};
    const number = id ?? bases[base] ?? '0';
    const format = known.get(number) ?? getNumberFormat(number, codes.get(number));
    known.set(number, format);
    return format;
  };
}

/** Texts and formats that cells refer to. */
export interface WorkbookContext {
  texts: readonly string[];
  /** Finds the format by the number of a style. */
  formatOf: (style: number) => NumberFormat;
}

/** A cell as it is stored. */
export interface Cell {
  /** Name of the cell, such as `C12`. */
  name: string;
  type: string;
  style: number;
  isFormula: boolean;
  value: string | null;
  /** Text that is stored in the cell itself. */
  inline: string | null;
}

interface Content {
  text: string;
  fault?: CellFault;
}

const unreadable: Content = { text: '', fault: 'unreadable-cell' };

/**
 * Returns the content of a cell. A cell is empty only if nothing is stored in it. A formula without
 * a stored result is a fault, and so is a value that cannot be read or is displayed differently.
 */
export function readContent(cell: Cell, book: WorkbookContext): Content {
  const isInline = cell.type === 'inlineStr';
  const rawText = (isInline ? cell.inline : cell.value) ?? '';
  // A cell with two values is ambiguous.
  if (((isInline ? cell.value : cell.inline) ?? '') !== '') {
    return unreadable;
  }
  if (cell.isFormula && rawText.trim() === '') {
    return { text: '', fault: 'no-result' };
  }
  if (rawText === '' && cell.type !== 's') {
    return { text: '' };
  }
  const content = readValue(rawText, cell, book);
  return { ...content, text: content.text.slice(0, cellLengthMax) };
}

function readValue(
  rawText: string,
  { type, style, isFormula, value }: Cell,
  { texts, formatOf }: WorkbookContext,
): Content {
  switch (type) {
    case 's': {
      const text = /^\d{1,9}$/.test(rawText) ? texts[Number(rawText)] : undefined;
      return value === null ? { text: '' } : text === undefined ? unreadable : { text };
    }
    case 'n': {
      if (!/^[+-]?(?:\d{1,400}(?:\.\d{0,400})?|\.\d{1,400})(?:e[+-]?\d{1,3})?$/i.test(rawText.trim())) {
        return unreadable;
      }
      // Programs that do not calculate formulas store a zero as the result.
      if (isFormula && Number(rawText) === 0) {
        return { text: '', fault: 'no-result' };
      }
      // 1.05E4 is also a whole number.
      const text = String(Number(rawText));
      const format = formatOf(style);
      if (format === 'date') {
        return { text, fault: 'is-date' };
      }
      return showsAsStored(format, Number(rawText)) ? { text } : unreadable;
    }
    case 'd':
      return { text: rawText, fault: 'is-date' };
    case 'b':
      return { text: rawText === '1' || rawText === 'true' ? 'TRUE' : 'FALSE' };
    case 'str':
    case 'inlineStr':
      return { text: unescapeText(rawText) };
    case 'e':
      return { text: rawText };
    default:
      return unreadable;
  }
}
