import { PcreInput, invalid, unsupported } from './pcre-input.js';
import { readClass } from './pcre-class.js';
import {
  NOT_SPACE,
  SPACE,
  classSource,
  classEscapeRanges,
  escapeChar,
  caseVariants,
} from './pcre-characters.js';
import type { CharacterSet } from './pcre-characters.js';
import { readCharacterEscape, readProperty } from './pcre-escapes.js';

export interface Translation {
  readonly source: string;
  readonly ignoreCase: boolean;
}

/** JS writes an end of input without the m flag as $, but `[^]` is shorter to negate. */
const END = '(?![^])';
const START = '(?<![^])';
const NEWLINE_SEQUENCE = '(?:\\r\\n|[\\n-\\r\\x85\\u2028\\u2029])';

/**
 * Translates by recursive descent. JS has one i flag for a whole pattern: where only a part ignores case, each
 * character there is written with all its cases instead.
 */
export function translatePcre(pattern: string, options: string): Translation {
  const first = new Translator(pattern, options, false);
  const source = first.translate();
  if (first.ignored && first.respected) {
    return { source: new Translator(pattern, options, true).translate(), ignoreCase: false };
  }
  return { source, ignoreCase: first.ignored };
}

interface Flags {
  i: boolean;
  m: boolean;
  s: boolean;
  x: boolean;
}

interface Atom {
  readonly source: string;
  /** JS does not repeat an assertion that is not in a group; PCRE does. */
  readonly assertion?: boolean;
}

class Translator {
  /** Whether a part of the pattern ignores case, and whether a part does not. */
  ignored = false;
  respected = false;

  readonly #input: PcreInput;
  #flags: Flags;
  #groups = 0;
  #atomics = 0;
  readonly #names = new Map<string, number>();
  readonly #references: (number | string)[] = [];

  constructor(
    pattern: string,
    options: string,
    readonly expandCase: boolean,
  ) {
    this.#input = new PcreInput(pattern);
    const has = (flag: string): boolean => options.includes(flag);
    this.#flags = { i: has('i'), m: has('m'), s: has('s'), x: has('x') };
  }

  translate(): string {
    while (this.#input.take('(*UTF8)') || this.#input.take('(*UTF)')) {
      // UTF is on anyway.
    }
    const source = this.#alternatives();
    if (!this.#input.atEnd()) {
      throw invalid('unmatched closing parenthesis');
    }
    for (const reference of this.#references) {
      const exists = typeof reference === 'number' ? reference <= this.#groups : this.#names.has(reference);
      if (!exists) {
        throw invalid('reference to a group that does not exist');
      }
    }
    return source.replaceAll(
      /\\k<@([^>]*)>/g,
      (_match, name: string) => `\\k<g${this.#names.get(name) ?? 0}>`,
    );
  }

  #alternatives(): string {
    const outer = { ...this.#flags };
    let source = '';
    for (;;) {
      this.#skipIgnored();
      if (this.#input.atEnd() || this.#input.peek() === ')') {
        break;
      }
      if (this.#input.take('|')) {
        source += '|';
        continue;
      }
      const atom = this.#atom();
      source += atom === undefined ? '' : this.#quantified(atom);
    }
    this.#flags = outer;
    return source;
  }

  /** Under the x option white space and comments are no part of the pattern. */
  #skipIgnored(): void {
    while (this.#flags.x) {
      if (this.#input.take('#')) {
        this.#input.skipPast('\n');
      } else if (!this.#input.takeSpace()) {
        return;
      }
    }
  }

  #atom(): Atom | undefined {
    const char = this.#input.next();
    switch (char) {
      case '\\':
        return this.#escape();
      case '[':
        return { source: this.#set(readClass(this.#input)) };
      case '(':
        return this.#group();
      case '^':
        return { source: this.#flags.m ? `(?:${START}|(?<=\\n)(?=[^]))` : START, assertion: true };
      case '$':
        return { source: this.#flags.m ? `(?:(?=\\n)|${END})` : `(?=\\n?${END})`, assertion: true };
      case '.':
        return { source: this.#flags.s ? '[^]' : '[^\\n]' };
      case '*':
      case '+':
      case '?':
        throw invalid('quantifier does not follow a repeatable item');
      case '{':
        if (this.#input.isBraceQuantifier()) {
          throw invalid('quantifier does not follow a repeatable item');
        }
        return { source: this.#literal(char) };
      default:
        return { source: this.#literal(char) };
    }
  }

  #quantified(atom: Atom): string {
    this.#skipIgnored();
    const quantifier = this.#input.takeQuantifier();
    if (quantifier === undefined) {
      return atom.source;
    }
    const item = atom.assertion === true ? `(?:${atom.source})` : atom.source;
    if (this.#input.take('+')) {
      return this.#atomic(item + quantifier);
    }
    return item + quantifier + (this.#input.take('?') ? '?' : '');
  }

  /** What is matched inside is never given back: a look-ahead that captures, then its capture. */
  #atomic(source: string): string {
    this.#atomics++;
    const name = `a${this.#atomics}`;
    return `(?:(?=(?<${name}>${source}))\\k<${name}>)`;
  }

  #literal(char: string): string {
    const point = char.codePointAt(0) ?? 0;
    return this.#set({ negated: false, ranges: [[point, point]], properties: [] });
  }

  #set(set: CharacterSet): string {
    if (set.properties.length > 0) {
      // Case never changes what \p{Lu} matches.
      this.respected = true;
    }
    this.ignored ||= this.#flags.i;
    this.respected ||= !this.#flags.i;
    const ranges =
      this.#flags.i && this.expandCase ? [...set.ranges, ...caseVariants(set.ranges)] : set.ranges;
    const [only] = ranges;
    if (
      !set.negated &&
      only !== undefined &&
      ranges.length === 1 &&
      only[0] === only[1] &&
      set.properties.length === 0
    ) {
      return escapeChar(only[0]);
    }
    return classSource({ ...set, ranges });
  }

  #escape(): Atom {
    const char = this.#input.next();
    switch (char) {
      case 'A':
      case 'G':
        return { source: START, assertion: true };
      case 'z':
        return { source: END, assertion: true };
      case 'Z':
        return { source: `(?=\\n?${END})`, assertion: true };
      case 'b':
      case 'B':
        this.respected = true;
        return { source: `\\${char}`, assertion: true };
      case 'R':
        return { source: NEWLINE_SEQUENCE };
      case 'N':
        return { source: '[^\\n]' };
      case 's':
        return { source: classSource({ negated: false, ranges: SPACE, properties: [] }) };
      case 'S':
        return { source: classSource({ negated: false, ranges: NOT_SPACE, properties: [] }) };
      case 'p':
      case 'P':
        return {
          source: this.#set({ negated: false, ranges: [], properties: [readProperty(this.#input, char)] }),
        };
      case 'Q':
        return { source: this.#quoted() };
      case 'E':
        return { source: '(?:)' };
      case 'k':
        return this.#reference(this.#input.takeDelimited());
      case 'g':
        return this.#groupReference();
      case 'K':
      case 'X':
      case 'C':
        throw unsupported(`\\${char}`);
      default:
        return this.#otherEscape(char);
    }
  }

  #otherEscape(char: string): Atom {
    const ranges = classEscapeRanges(char);
    if (ranges !== undefined) {
      // \w and \d are ASCII in PCRE; the i flag of JS would add to them.
      this.respected = true;
      return { source: classSource({ negated: false, ranges, properties: [] }) };
    }
    if (/[1-9]/.test(char)) {
      const digits = char + this.#input.takeWhile(/\d/, 2);
      if (digits.length === 1 || Number(digits) <= this.#groups) {
        return this.#reference(Number(digits));
      }
      this.#input.back(digits.length - 1);
    }
    return { source: this.#literal(readCharacterEscape(this.#input, char)) };
  }

  #groupReference(): Atom {
    const text =
      this.#input.peek() === '{' ? this.#input.takeDelimited() : this.#input.takeWhile(/[-+\d]/, 4);
    if (/^-\d+$/.test(text)) {
      return this.#reference(this.#groups + 1 + Number(text));
    }
    if (text === '' || /^\+/.test(text) || "<'".includes(this.#input.peek() || ' ')) {
      throw unsupported('\\g for a subroutine or a later group');
    }
    return this.#reference(/^\d+$/.test(text) ? Number(text) : text);
  }

  #reference(group: number | string): Atom {
    if (group === 0) {
      throw unsupported('recursion');
    }
    if (this.#flags.i && this.expandCase) {
      throw unsupported('a back reference that ignores case in a part of the pattern');
    }
    this.ignored ||= this.#flags.i;
    this.#references.push(group);
    return { source: typeof group === 'number' ? `\\k<g${group}>` : `\\k<@${group}>` };
  }

  #quoted(): string {
    let source = '';
    while (!this.#input.atEnd() && !this.#input.take('\\E')) {
      source += this.#literal(this.#input.next());
    }
    return source === '' ? '(?:)' : `(?:${source})`;
  }

  #group(): Atom | undefined {
    if (this.#input.peek() === '*') {
      throw unsupported('a verb (*...)');
    }
    if (!this.#input.take('?')) {
      return { source: this.#capture() };
    }
    for (const look of ['=', '!', '<=', '<!']) {
      if (this.#input.take(look)) {
        return { source: `(?${look}${this.#close()})`, assertion: true };
      }
    }
    if (this.#input.take('#')) {
      this.#input.skipPast(')');
      return undefined;
    }
    if (this.#input.take(':')) {
      return { source: `(?:${this.#close()})` };
    }
    if (this.#input.take('>')) {
      return { source: this.#atomic(this.#close()) };
    }
    if (this.#input.take('P=')) {
      return this.#namedReference();
    }
    const named = this.#input.take('P<')
      ? '>'
      : this.#input.take('<')
        ? '>'
        : this.#input.take("'")
          ? "'"
          : '';
    if (named !== '') {
      const name = this.#input.takeName(named);
      if (this.#names.has(name)) {
        throw invalid('two named subpatterns have the same name');
      }
      this.#names.set(name, this.#groups + 1);
      return { source: this.#capture() };
    }
    return this.#flagGroup();
  }

  #namedReference(): Atom {
    return this.#reference(this.#input.takeName(')'));
  }

  #capture(): string {
    this.#groups++;
    const name = `g${this.#groups}`;
    return `(?<${name}>${this.#close()})`;
  }

  #close(): string {
    const source = this.#alternatives();
    if (!this.#input.take(')')) {
      throw invalid('missing closing parenthesis');
    }
    return source;
  }

  /** `(?i)` for the rest of the group, `(?i:...)` for its own content. */
  #flagGroup(): Atom | undefined {
    const text = this.#input.takeWhile(/[-^imsx]/, 12);
    const flags = { ...this.#flags };
    let on = true;
    for (const char of text) {
      if (char === '^') {
        Object.assign(flags, { i: false, m: false, s: false, x: false });
      } else if (char === '-') {
        on = false;
      } else {
        flags[char as keyof Flags] = on;
      }
    }
    if (this.#input.take(')')) {
      this.#flags = flags;
      return undefined;
    }
    if (text === '' || !this.#input.take(':')) {
      throw unsupported(`(?${text}${this.#input.peek()}`);
    }
    const outer = this.#flags;
    this.#flags = flags;
    const source = this.#close();
    this.#flags = outer;
    return { source: `(?:${source})` };
  }
}
