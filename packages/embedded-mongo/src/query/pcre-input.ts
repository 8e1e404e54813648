import { MongoError } from '../errors.js';

export function invalid(reason: string): MongoError {
  return new MongoError(51091, `Regular expression is invalid: ${reason}`);
}

export function unsupported(feature: string): MongoError {
  return invalid(`${feature} is not supported by embedded-mongo`);
}

/** A reader of a pattern, code point by code point. */
export class PcreInput {
  readonly #points: readonly string[];
  #pos = 0;

  constructor(pattern: string) {
    this.#points = Array.from(pattern);
  }

  atEnd(): boolean {
    return this.#pos >= this.#points.length;
  }

  /** The next character, '' at the end. */
  peek(ahead = 0): string {
    return this.#points[this.#pos + ahead] ?? '';
  }

  next(): string {
    const char = this.#points[this.#pos++];
    if (char === undefined) {
      throw invalid('unexpected end of the pattern');
    }
    return char;
  }

  back(count: number): void {
    this.#pos -= count;
  }

  take(text: string): boolean {
    for (let i = 0; i < text.length; i++) {
      if (this.peek(i) !== text[i]) {
        return false;
      }
    }
    this.#pos += text.length;
    return true;
  }

  takeSpace(): boolean {
    if (/^[ \t-\r]$/.test(this.peek())) {
      this.#pos++;
      return true;
    }
    return false;
  }

  takeWhile(pattern: RegExp, countMax: number): string {
    let text = '';
    while (text.length < countMax && pattern.test(this.peek())) {
      text += this.next();
    }
    return text;
  }

  skipPast(char: string): void {
    while (!this.atEnd() && this.next() !== char) {
      // Skipped.
    }
  }

  /** A group's name up to `end`. */
  takeName(end: string): string {
    const name = this.takeWhile(/[A-Za-z0-9_]/, 32);
    if (name === '' || /^\d/.test(name) || !this.take(end)) {
      throw invalid('bad name of a group');
    }
    return name;
  }

  /** `{name}`, `<name>` or `'name'`. */
  takeDelimited(): string {
    const end = { '{': '}', '<': '>', "'": "'" }[this.next()];
    if (end === undefined) {
      throw invalid('a name must be in braces, angle brackets or quotes');
    }
    const text = this.takeWhile(/[-\w]/, 33);
    if (text === '' || !this.take(end)) {
      throw invalid('bad name of a group');
    }
    return text;
  }

  /** After a `{`: whether it begins a quantifier; else it is a literal. */
  isBraceQuantifier(): boolean {
    return this.#braces(this.#pos - 1) !== undefined;
  }

  /** `*`, `+`, `?`, `{2}`, `{2,}` or `{2,3}`. */
  takeQuantifier(): string | undefined {
    const char = this.peek();
    if (char === '*' || char === '+' || char === '?') {
      return this.next();
    }
    const braces = char === '{' ? this.#braces(this.#pos) : undefined;
    if (braces === undefined) {
      return undefined;
    }
    this.#pos += braces.length;
    const [min = 0, max = min] = braces.slice(1, -1).split(',').filter(Boolean).map(Number);
    if (min > 65535 || max > 65535) {
      throw invalid('number too big in {} quantifier');
    }
    if (min > max) {
      throw invalid('numbers out of order in {} quantifier');
    }
    return braces;
  }

  #braces(start: number): string | undefined {
    const text = this.#points.slice(start, start + 24).join('');
    return /^\{\d{1,9}(?:,\d{0,9})?\}/.exec(text)?.[0];
  }
}
