import { invalid, unsupported } from './pcre-input.js';
import type { PcreInput } from './pcre-input.js';

const CONTROL: ReadonlyMap<string, string> = new Map([
  ['a', '\x07'],
  ['e', '\x1b'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
]);

/** The character that an escape stands for; `char` is what follows the backslash. */
export function readCharacterEscape(input: PcreInput, char: string): string {
  const control = CONTROL.get(char);
  if (control !== undefined) {
    return control;
  }
  switch (char) {
    case 'x':
      return input.take('{')
        ? characterOf(16, endOf(input, /[0-9a-fA-F]/, 8))
        : characterOf(16, input.takeWhile(/[0-9a-fA-F]/, 2) || '0');
    case 'o':
      if (!input.take('{')) {
        throw invalid('missing opening brace after \\o');
      }
      return characterOf(8, endOf(input, /[0-7]/, 11));
    case 'c':
      return String.fromCharCode(input.next().toUpperCase().charCodeAt(0) ^ 64);
    default:
  }
  if (/[0-7]/.test(char)) {
    return characterOf(8, char + input.takeWhile(/[0-7]/, 2));
  }
  if (/[A-Za-z]/.test(char)) {
    throw invalid(`unrecognized character follows \\: ${char}`);
  }
  return char;
}

function endOf(input: PcreInput, digits: RegExp, countMax: number): string {
  const text = input.takeWhile(digits, countMax);
  if (text === '' || !input.take('}')) {
    throw invalid('bad digits in an escape');
  }
  return text;
}

function characterOf(radix: number, digits: string): string {
  const point = Number.parseInt(digits, radix);
  if (point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff)) {
    throw invalid('character code point value is too large or a surrogate');
  }
  return String.fromCodePoint(point);
}

/** `\p{Greek}`, `\pL`, `\P{^L}` as JS writes them; `escape` is p or P. */
export function readProperty(input: PcreInput, escape: string): string {
  let negated = escape === 'P';
  let name = input.next();
  if (name === '{') {
    negated = input.take('^') ? !negated : negated;
    name = input.takeWhile(/[\w& -]/, 64).trim();
    if (!input.take('}')) {
      throw invalid('malformed \\P or \\p sequence');
    }
  }
  if (/^X(?:an|sp|ps|wd|uc)$/.test(name)) {
    throw unsupported(`\\p{${name}}`);
  }
  return `\\${negated ? 'P' : 'p'}{${jsProperty(name)}}`;
}

function jsProperty(name: string): string {
  if (name === 'L&') {
    return 'LC';
  }
  for (const candidate of [name, `Script_Extensions=${name}`]) {
    try {
      new RegExp(`\\p{${candidate}}`, 'u');
      return candidate;
    } catch {
      // Not a property by this name: the next form is tried.
    }
  }
  throw invalid('unknown property after \\P or \\p');
}
