/**
 * How a workbook displays a number (ECMA-376, 18.8.31).
 * - date: as a date or time.
 * - an object: with its own digits, at least `numberLengthMin` of them.
 * - other: in any other way, for example in thousands, as a percentage or fraction, or not at all.
 */
export type NumberFormat = 'date' | 'other' | { digitsMin: number; showsZero: boolean };

/** Numbers of the built-in formats for days and times, including those of East Asia. */
const builtInDateFormats = [
  [14, 22],
  [27, 36],
  [45, 47],
  [50, 58],
] as const;
/** Numbers of the built-in formats for General, digits, local currencies, accounting and text. */
const builtInPlainFormats = [
  [0, 8],
  [37, 44],
  [49, 49],
] as const;

const plain: NumberFormat = { digitsMin: 1, showsZero: true };
/** Longer than any real format. */
const codeLengthMax = 1_000;

/**
 * Returns the format with this id.
 * @param code Format code. Undefined for a built-in format.
 */
export function getNumberFormat(id: string, code: string | undefined): NumberFormat {
  const isAmong = (known: readonly (readonly [number, number])[]) =>
    known.some(([first, last]) => Number(id) >= first && Number(id) <= last);
  if (code === undefined) {
    return isAmong(builtInDateFormats) ? 'date' : isAmong(builtInPlainFormats) ? plain : 'other';
  }
  if (/^general$/i.test(code)) {
    return plain;
  }
  if (code.length > codeLengthMax) {
    return 'other';
  }
  return isDate(code) ? 'date' : combineSections(parseSections(code));
}

/**
 * True if the digits that a person sees are those of the number. Decimals are ignored, because
 * amounts have none.
 */
export function showsAsStored(format: NumberFormat, value: number): boolean {
  if (typeof format === 'string') {
    return false;
  }
  return value === 0 ? format.showsZero : String(Math.trunc(Math.abs(value))).length >= format.digitsMin;
}

/** True for a date or time: [h] is a time, but [Red] is a colour. */
function isDate(code: string): boolean {
  const shown = code.replaceAll(/"[^"]*"?|[\\_*].?|\[[^\]]*\]?/g, '');
  return /[dmyhs]/i.test(shown) || /\[(?:h+|m+|s+)\]/i.test(code);
}

/** One section of a format: for positive numbers, negative ones, zeros or texts. */
interface Section {
  /** Placeholders of digits, with a space for each literal. */
  digits: string;
  /** Literals, with a space for each placeholder. */
  words: string;
}

/**
 * Tokens of a format: quoted text, escaped characters, padding and fill, brackets, and all other
 * characters.
 */
const tokenPattern = /"([^"]*)"?|\\(.)|_.|\*(.)|\[([^\]]*)\]?|(.)/gsu;
/** Literals that need no quotes. By the standard, R and p need them, but programs omit them. */
const literalPattern = /[\s$\u20ac+()Rp-]/u;
const colourPattern = /^(?:black|blue|cyan|green|magenta|red|white|yellow|color ?\d{1,2})$/i;

function parseSections(code: string): Section[] {
  let section: Section = { digits: '', words: '' };
  const sections = [section];
  for (const [, quoted, escaped, filling, brackets, bare] of code.matchAll(tokenPattern)) {
    const currency = brackets?.startsWith('$') ? brackets.slice(1).split('-')[0] : undefined;
    const word = quoted ?? escaped ?? filling ?? currency;
    if (bare === ';') {
      section = { digits: '', words: '' };
      sections.push(section);
    } else if (word !== undefined || (bare !== undefined && literalPattern.test(bare))) {
      section.words += word ?? bare ?? '';
      section.digits += word === '' ? '' : ' ';
    } else if (bare !== undefined) {
      section.digits += bare;
      section.words += ' ';
    } else if (brackets !== undefined && !colourPattern.test(brackets)) {
      // A condition, or the digits of another script.
      section.digits += '[';
    }
  }
  return sections;
}

/**
 * Digits without interruption, grouped or not. A comma after the last digit would scale the number
 * by a thousand.
 */
const digitsPattern = /^(?:General|@|[#0?]+(?:,[#0?]+)*(?:\.[#0?]*)?)$/;
/** Words for thousands and millions, as written in Indonesia and elsewhere. */
const scaleSuffixes = new Set(['k', 'rb', 'ribu', 'jt', 'juta', 'm', 'mio', 'mn']);

function combineSections(sections: readonly Section[]): NumberFormat {
  const [first = { digits: '', words: '' }, , third] = sections;
  const digits = first.digits.trim();
  if (
    !digitsPattern.test(digits) ||
    changesAmount(first.words) ||
    sections.some((each) => each.digits.includes('['))
  ) {
    return 'other';
  }
  const whole = digits.replaceAll(',', '').split('.')[0] ?? '';
  const place = whole.indexOf('0');
  return { digitsMin: place < 0 ? 1 : whole.length - place, showsZero: showsZero(third ?? first) };
}

/**
 * True for literals that scale the number. `0"000"` shows a thousand times the stored value, and
 * `0"k"` means it.
 */
function changesAmount(words: string): boolean {
  return (
    /[\p{N}%\u2030]/u.test(words) ||
    words.split(/[^\p{L}]+/u).some((each) => scaleSuffixes.has(each.toLowerCase()))
  );
}

/** True if zero is shown as a zero, or as the dash of accounting formats. */
function showsZero({ digits, words }: Section): boolean {
  const isNought = digitsPattern.test(digits.trim()) && /0|@|General/.test(digits);
  const isDash = /^[ ?]*$/.test(digits) && words.includes('-');
  return (isNought || isDash) && !changesAmount(words);
}
