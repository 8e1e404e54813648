export type Range = readonly [from: number, to: number];

export interface CharacterSet {
  readonly negated: boolean;
  readonly ranges: readonly Range[];
  /** Unicode properties, written as JS does: `\p{L}`. */
  readonly properties: readonly string[];
}

const LAST = 0x10ffff;

export const SPACE: readonly Range[] = [
  [9, 13],
  [32, 32],
];
const DIGIT: readonly Range[] = [[48, 57]];
const WORD: readonly Range[] = [
  [48, 57],
  [65, 90],
  [95, 95],
  [97, 122],
];
const HORIZONTAL: readonly Range[] = [
  [9, 9],
  [32, 32],
  [0xa0, 0xa0],
  [0x1680, 0x1680],
  [0x180e, 0x180e],
  [0x2000, 0x200a],
  [0x202f, 0x202f],
  [0x205f, 0x205f],
  [0x3000, 0x3000],
];
const VERTICAL: readonly Range[] = [
  [10, 13],
  [0x85, 0x85],
  [0x2028, 0x2029],
];

/** All characters that are not in the (ascending) ranges. */
export function complement(ranges: readonly Range[]): readonly Range[] {
  const rest: Range[] = [];
  let from = 0;
  for (const [first, last] of ranges) {
    if (first > from) {
      rest.push([from, first - 1]);
    }
    from = last + 1;
  }
  return from <= LAST ? [...rest, [from, LAST]] : rest;
}

export const NOT_SPACE = complement(SPACE);

const CLASS_ESCAPES: ReadonlyMap<string, readonly Range[]> = new Map([
  ['d', DIGIT],
  ['D', complement(DIGIT)],
  ['w', WORD],
  ['W', complement(WORD)],
  ['s', SPACE],
  ['S', NOT_SPACE],
  ['h', HORIZONTAL],
  ['H', complement(HORIZONTAL)],
  ['v', VERTICAL],
  ['V', complement(VERTICAL)],
]);

/** The characters of `\d`, `\w`, `\h`, ...; in PCRE without UCP the first are ASCII. */
export function classEscapeRanges(char: string): readonly Range[] | undefined {
  return CLASS_ESCAPES.get(char);
}

export const POSIX_CLASSES: ReadonlyMap<string, readonly Range[]> = new Map<string, readonly Range[]>([
  [
    'alpha',
    [
      [65, 90],
      [97, 122],
    ],
  ],
  ['digit', DIGIT],
  [
    'alnum',
    [
      [48, 57],
      [65, 90],
      [97, 122],
    ],
  ],
  ['upper', [[65, 90]]],
  ['lower', [[97, 122]]],
  ['space', SPACE],
  [
    'blank',
    [
      [9, 9],
      [32, 32],
    ],
  ],
  [
    'punct',
    [
      [33, 47],
      [58, 64],
      [91, 96],
      [123, 126],
    ],
  ],
  ['print', [[32, 126]]],
  ['graph', [[33, 126]]],
  [
    'cntrl',
    [
      [0, 31],
      [127, 127],
    ],
  ],
  [
    'xdigit',
    [
      [48, 57],
      [65, 70],
      [97, 102],
    ],
  ],
  ['ascii', [[0, 127]]],
  ['word', WORD],
]);

/** A set as a JS character class. */
export function classSource(set: CharacterSet): string {
  const items = set.ranges.map(([from, to]) => {
    return from === to ? escapeChar(from) : `${escapeChar(from)}-${escapeChar(to)}`;
  });
  return `[${set.negated ? '^' : ''}${items.join('')}${set.properties.join('')}]`;
}

/** A character that stands for itself in a pattern and in a class. */
export function escapeChar(point: number): string {
  return isLetterOrDigit(point) ? String.fromCodePoint(point) : `\\u{${point.toString(16)}}`;
}

function isLetterOrDigit(point: number): boolean {
  return (point >= 48 && point <= 57) || (point >= 65 && point <= 90) || (point >= 97 && point <= 122);
}

/** Characters outside of the ranges that equal one inside when case is ignored. */
export function caseVariants(ranges: readonly Range[]): readonly Range[] {
  const contains = (point: number): boolean => ranges.some(([from, to]) => point >= from && point <= to);
  const [only] = ranges;
  if (ranges.length === 1 && only !== undefined && only[0] === only[1]) {
    return (caseGroups().get(only[0]) ?? [])
      .filter((point) => !contains(point))
      .map((point) => [point, point]);
  }
  const added = new Set<number>();
  for (const [point, group] of caseGroups()) {
    if (contains(point)) {
      group.filter((other) => !contains(other)).forEach((other) => added.add(other));
    }
  }
  return [...added].map((point) => [point, point]);
}

let groups: ReadonlyMap<number, readonly number[]> | undefined;

/** For each cased character all characters that equal it when case is ignored. */
function caseGroups(): ReadonlyMap<number, readonly number[]> {
  groups ??= buildCaseGroups();
  return groups;
}

function buildCaseGroups(): ReadonlyMap<number, readonly number[]> {
  const byFold = new Map<string, number[]>();
  for (let point = 65; point < 0x1ea00; point++) {
    const char = String.fromCodePoint(point);
    const upper = char.toUpperCase();
    const fold = (upper.length > char.length ? char : upper).toLowerCase();
    if (fold !== char || upper !== char) {
      const group = byFold.get(fold) ?? [];
      group.push(point);
      byFold.set(fold, group);
    }
  }
  const byPoint = new Map<number, readonly number[]>();
  for (const group of byFold.values()) {
    if (group.length > 1) {
      group.forEach((point) => byPoint.set(point, group));
    }
  }
  return byPoint;
}
