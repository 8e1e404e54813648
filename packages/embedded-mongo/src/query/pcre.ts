import { MongoError } from '../errors.js';

const CACHE_MAX = 500;
const cache = new Map<string, RegExp>();

/**
 * Translates a PCRE pattern in UTF mode into an equivalent JS regular expression. Most syntax is
 * the same in both. `.`, `^`, `$` and `\s` are translated, because their meanings differ. Syntax
 * without an equivalent is refused.
 * @throws MongoError 51091 if the pattern is invalid or cannot be translated, 51108 for an unknown
 * flag.
 */
export function compilePcre(pattern: string, options: string): RegExp {
  const key = `${options}/${pattern}`;
  let regex = cache.get(key);
  if (regex === undefined) {
    regex = compile(pattern, options);
    if (cache.size >= CACHE_MAX) {
      cache.clear();
    }
    cache.set(key, regex);
  }
  return regex;
}

function compile(pattern: string, options: string): RegExp {
  const unknown = /[^imsxu]/.exec(options);
  if (unknown !== null) {
    throw new MongoError(51108, `invalid flag in regex options: ${unknown[0]}`);
  }
  const [leading = '', flags = ''] = /^\(\?([imsx]+)\)/.exec(pattern) ?? [];
  const has = (flag: string): boolean => options.includes(flag) || flags.includes(flag);
  if (has('x')) {
    throw createPatternError('the option x');
  }
  const source = translate(pattern.slice(leading.length), { multiline: has('m'), dotAll: has('s') });
  try {
    return new RegExp(source, has('i') ? 'ui' : 'u');
  } catch (error) {
    throw createInvalidRegexError(error instanceof Error ? error.message : String(error));
  }
}

function createInvalidRegexError(reason: string): MongoError {
  return new MongoError(51091, `Regular expression is invalid: ${reason}`);
}

function createPatternError(feature: string): MongoError {
  return createInvalidRegexError(`${feature} is not supported by embedded-mongo`);
}

interface PatternFlags {
  readonly multiline: boolean;
  readonly dotAll: boolean;
}

const START = '(?<![^])';
const END = '(?![^])';
const FINAL = `(?=\\n?${END})`;

/**
 * Matches one token: an escape, a character class, the start of a special group, a quantifier in
 * braces, or a single character.
 */
const TOKENS =
  /\\(?:x\{[0-9a-fA-F]+\}|x[0-9a-fA-F]{2}|c[A-Za-z]|k<\w+>|[pP](?:\{[^}]*\}|.)|[^])|\[\^?\]?(?:\\[^]|\[:[^]|[^\]\\])*\]|\(\?P?[<>=!:|'#]?|\{\d+(?:,\d*)?\}|[^]/gu;

function translate(pattern: string, meaning: PatternFlags): string {
  let source = '';
  for (const [token] of pattern.matchAll(TOKENS)) {
    source += translateToken(token, meaning);
  }
  return source;
}

function translateToken(token: string, { multiline, dotAll }: PatternFlags): string {
  if (token.startsWith('\\')) {
    return (
      ANCHORS.get(token) ?? (token === '\\S' ? `[^${SPACE}]` : token === '\\s' ? `[${SPACE}]` : escape(token))
    );
  }
  if (token.startsWith('[')) {
    return token === '[' ? invalidClass() : translateClass(token);
  }
  switch (token) {
    case '.':
      return dotAll ? '[^]' : '[^\\n]';
    case '^':
      return multiline ? `(?:${START}|(?<=\\n)(?=[^]))` : START;
    case '$':
      return multiline ? `(?:(?=\\n)|${END})` : FINAL;
    case '{':
    case '}':
    case ']':
      return `\\${token}`;
    case '(?P<':
      return '(?<';
    case '(?':
    case '(?>':
    case '(?|':
    case '(?#':
    case "(?'":
    case '(?P':
    case '(?P=':
    case '(?P>':
      throw createPatternError(`a group that begins with ${token}`);
    default:
      return token;
  }
}

function invalidClass(): never {
  throw createInvalidRegexError('missing terminating ] for character class');
}

const ANCHORS: ReadonlyMap<string, string> = new Map([
  ['\\A', START],
  ['\\z', END],
  ['\\Z', FINAL],
]);

/** In PCRE, only ASCII characters are white space. */
const SPACE = '\\t-\\r ';
const NOT_SPACE = '\\0-\\x08\\x0e-\\x1f!-\\u{10ffff}';

/** Translates an escape inside or outside of a character class. */
function escape(token: string): string {
  const letter = token.charAt(1);
  switch (letter) {
    case 'a':
      return '\\x07';
    case 'e':
      return '\\x1b';
    case 'x':
      return token.startsWith('\\x{') ? `\\u${token.slice(2)}` : token;
    case 'p':
    case 'P':
      return token.charAt(2) === '{' ? token : `\\${letter}{${token.slice(2)}}`;
    default:
      break;
  }
  if (/^\\(?:[bBdDwWnrtf1-9]|c[A-Za-z]|k<\w+>)$/.test(token)) {
    return token;
  }
  if (/[A-Za-z0-9]/.test(letter)) {
    throw createPatternError(token);
  }
  return /[\^$\\.*+?()[\]{}|/-]/.test(letter) ? `\\${letter}`.replace('\\-', '\\x2d') : token.slice(1);
}

/**
 * Translates a character class. In PCRE, a `]` at the start and a `-` next to an escape such as
 * `\w` are literal characters.
 */
function translateClass(token: string): string {
  const [head = '['] = /^\[\^?/.exec(token) ?? [];
  let source = head;
  let afterSet = false;
  for (const [item] of token
    .slice(head.length, -1)
    .matchAll(/\\(?:x\{[0-9a-fA-F]+\}|x[0-9a-fA-F]{2}|c[A-Za-z]|[pP](?:\{[^}]*\}|.)|[^])|\[:|[^]/gu)) {
    if (item === '[:') {
      throw createPatternError('a POSIX class');
    }
    if (item === '\\B') {
      throw createInvalidRegexError('\\B is not allowed in a character class');
    }
    const isSet = /^\\[dDwWsSpP]/.test(item);
    if (item === ']' || item === '[' || (item === '-' && afterSet)) {
      source += item === '-' ? '\\-' : `\\${item}`;
    } else if (item === '\\s' || item === '\\S') {
      source += item === '\\s' ? SPACE : NOT_SPACE;
    } else {
      source += item.startsWith('\\') ? escape(item) : item;
    }
    afterSet = isSet;
  }
  return `${source}]`;
}
