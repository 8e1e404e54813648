/**
 * How a workbook shows a number (ECMA-376, 18.8.31): as a date; with its own digits, and then with so many of them at least; or
 * otherwise, as thousands, per cent, a fraction, or not at all.
 */
export type NumberFormat = 'date' | 'other' | { digitsMin: number; showsZero: boolean };

/** Formats that every workbook knows by their number: days, times, and those of East Asia. */
const knownDates = [
  [14, 22],
  [27, 36],
  [45, 47],
  [50, 58],
] as const;
/** General, digits, currencies of the country, accounts, text. */
const knownPlain = [
  [0, 8],
  [37, 44],
  [49, 49],
] as const;

const plain: NumberFormat = { digitsMin: 1, showsZero: true };
/** No format is longer. */
const codeLengthMax = 1_000;

/** @param code Undefined: one that workbooks know by its number. */
export function numberFormat(id: string, code: string | undefined): NumberFormat {
  const isAmong = (known: readonly (readonly [number, number])[]) =>
    known.some(([first, last]) => Number(id) >= first && Number(id) <= last);
  if (code === undefined) {
    return isAmong(knownDates) ? 'date' : isAmong(knownPlain) ? plain : 'other';
  }
  if (/^general$/i.test(code)) {
    return plain;
  }
  if (code.length > codeLengthMax) {
    return 'other';
  }
  return isDate(code) ? 'date' : combineSections(parseSections(code));
}

/** Whether the digits that a person sees are those of the number. What is behind its point is no concern: no amount has it. */
export function showsAsStored(format: NumberFormat, value: number): boolean {
  if (typeof format === 'string') {
    return false;
  }
  return value === 0 ? format.showsZero : String(Math.trunc(Math.abs(value))).length >= format.digitsMin;
}

/** [h] is a time, [Red] a colour. */
function isDate(code: string): boolean {
  const shown = code.replaceAll(/"[^"]*"?|[\\_*].?|\[[^\]]*\]?/g, '');
  return /[dmyhs]/i.test(shown) || /\[(?:h+|m+|s+)\]/i.test(code);
}

/** Of positive numbers, negative ones, noughts, texts. */
interface Section {
  /** What stands for digits, with a space for what is shown as it is. */
  digits: string;
  /** What is shown as it is, with a space for each digit. */
  words: string;
}

/** In quotes, behind a backslash, room and filling, in brackets, and all else. */
const tokenForm = /"([^"]*)"?|\\(.)|_.|\*(.)|\[([^\]]*)\]?|(.)/gsu;
/** These need no quotes; R and p do, and are written without. */
const shownAsItIs = /[\s$\u20ac+()Rp-]/u;
const colour = /^(?:black|blue|cyan|green|magenta|red|white|yellow|color ?\d{1,2})$/i;

function parseSections(code: string): Section[] {
  let section: Section = { digits: '', words: '' };
  const sections = [section];
  for (const [, quoted, escaped, filling, brackets, bare] of code.matchAll(tokenForm)) {
    const currency = brackets?.startsWith('$') ? brackets.slice(1).split('-')[0] : undefined;
    const word = quoted ?? escaped ?? filling ?? currency;
    if (bare === ';') {
      section = { digits: '', words: '' };
      sections.push(section);
    } else if (word !== undefined || (bare !== undefined && shownAsItIs.test(bare))) {
      section.words += word ?? bare ?? '';
      section.digits += word === '' ? '' : ' ';
    } else if (bare !== undefined) {
      section.digits += bare;
      section.words += ' ';
    } else if (brackets !== undefined && !colour.test(brackets)) {
      // A condition, or digits of another script.
      section.digits += '[';
    }
  }
  return sections;
}

/** Digits, grouped or not, in one piece; a comma behind them would leave thousands out. */
const digitsForm = /^(?:General|@|[#0?]+(?:,[#0?]+)*(?:\.[#0?]*)?)$/;
/** So many thousands or millions, as they are written in Indonesia and elsewhere. */
const scales = new Set(['k', 'rb', 'ribu', 'jt', 'juta', 'm', 'mio', 'mn']);

function combineSections(sections: readonly Section[]): NumberFormat {
  const [first = { digits: '', words: '' }, , third] = sections;
  const digits = first.digits.trim();
  if (
    !digitsForm.test(digits) ||
    changesAmount(first.words) ||
    sections.some((each) => each.digits.includes('['))
  ) {
    return 'other';
  }
  const whole = digits.replaceAll(',', '').split('.')[0] ?? '';
  const place = whole.indexOf('0');
  return { digitsMin: place < 0 ? 1 : whole.length - place, showsZero: showsZero(third ?? first) };
}

/** `0"000"` is a thousand times what is stored, and `0"k"` is meant so. */
function changesAmount(words: string): boolean {
  return (
    /[\p{N}%\u2030]/u.test(words) || words.split(/[^\p{L}]+/u).some((each) => scales.has(each.toLowerCase()))
  );
}

/** As a nought, or as the dash of accounts. */
function showsZero({ digits, words }: Section): boolean {
  const isNought = digitsForm.test(digits.trim()) && /0|@|General/.test(digits);
  const isDash = /^[ ?]*$/.test(digits) && words.includes('-');
  return (isNought || isDash) && !changesAmount(words);
}
