import { POSIX_CLASSES, classEscapeRanges, complement } from './pcre-characters.js';
import type { CharacterSet, Range } from './pcre-characters.js';
import { readCharacterEscape, readProperty } from './pcre-escapes.js';
import { invalid } from './pcre-input.js';
import type { PcreInput } from './pcre-input.js';

/** Reads a character class after its opening bracket. A `]` in the first place is a literal. */
export function readClass(input: PcreInput): CharacterSet {
  const negated = input.take('^');
  const ranges: Range[] = [];
  const properties: string[] = [];
  let first = true;
  for (;;) {
    const char = input.next();
    if (char === ']' && !first) {
      return { negated, ranges, properties };
    }
    first = false;
    if (char === '[' && /[:.=]/.test(input.peek()) && readPosix(input, ranges)) {
      continue;
    }
    const item = readItem(input, char, properties);
    if (typeof item !== 'string') {
      ranges.push(...item);
      continue;
    }
    ranges.push(readRange(input, item, properties));
  }
}

/** A single character, the ranges of a class escape, or none for a property or an empty quotation. */
function readItem(input: PcreInput, char: string, properties: string[]): string | readonly Range[] {
  if (char !== '\\') {
    return char;
  }
  const escape = input.next();
  if (escape === 'p' || escape === 'P') {
    properties.push(readProperty(input, escape));
    return [];
  }
  if (escape === 'b') {
    return '\b';
  }
  if (escape === 'Q' || escape === 'E') {
    return escape === 'Q' ? readQuoted(input) : [];
  }
  if (/[BRXNK]/.test(escape)) {
    throw invalid(`\\${escape} is not allowed in a character class`);
  }
  return classEscapeRanges(escape) ?? readCharacterEscape(input, escape);
}

function readQuoted(input: PcreInput): readonly Range[] {
  const ranges: Range[] = [];
  while (!input.atEnd() && !input.take('\\E')) {
    const point = pointOf(input.next());
    ranges.push([point, point]);
  }
  return ranges;
}

function readRange(input: PcreInput, from: string, properties: string[]): Range {
  const first = pointOf(from);
  if (input.peek() !== '-' || input.peek(1) === ']' || input.peek(1) === '') {
    return [first, first];
  }
  input.next();
  const last = readItem(input, input.next(), properties);
  if (typeof last !== 'string') {
    throw invalid('invalid range in character class');
  }
  if (pointOf(last) < first) {
    throw invalid('range out of order in character class');
  }
  return [first, pointOf(last)];
}

function readPosix(input: PcreInput, ranges: Range[]): boolean {
  let length = 1;
  while (/[\^a-z]/.test(input.peek(length))) {
    length++;
  }
  if (input.peek() !== ':' || input.peek(length) !== ':' || input.peek(length + 1) !== ']') {
    return false;
  }
  input.next();
  const negated = input.take('^');
  const known = POSIX_CLASSES.get(input.takeWhile(/[a-z]/, 8));
  if (known === undefined || !input.take(':]')) {
    throw invalid('unknown POSIX class name');
  }
  ranges.push(...(negated ? complement(known) : known));
  return true;
}

function pointOf(char: string): number {
  return char.codePointAt(0) ?? 0;
}
