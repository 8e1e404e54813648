import { groupBy, iterateInSlices } from '../../shared/collections.js';
import { findTellingWords, scoreOverlap } from './correction-text.js';

/** A line that takes back another line of the same amount in the opposite direction. */
export interface Correcting {
  key: string;
  /** YYYY-MM-DD. Null if the day cannot be read. */
  day: string | null;
  amount: number;
  description: string;
}

/** A line that may be taken back. */
export interface Correctable {
  key: string;
  day: string;
  amount: number;
  description: string;
  /** True if the line has not credited a deposit. Of equal lines, such a line is taken back first. */
  isFree: boolean;
}

export interface Pairing<C, L> {
  pairs: { correction: C; line: L }[];
  /** Keys of lines that a correction may take back, although it is not certain which one. */
  doubtful: Set<string>;
}

/** A bank corrects a line up to a month later. It may book the correction some days earlier. */
export const correctedWithinDays = 31;
const correctedBeforeDays = 3;
const dayMs = 86_400_000;

interface Possible<C, L> {
  correction: C;
  line: L;
  score: number;
  /** Days from the line to its correction. */
  days: number;
}

/**
 * Pairs corrections with the lines that they take back, in any order: equal amount, near days, and
 * texts that share a reference or a name. A line is taken back once. A correction that fits several
 * texts equally makes them doubtful. One without a line makes all lines of its amount doubtful.
 */
export async function pairCorrections<C extends Correcting, L extends Correctable>(
  corrections: readonly C[],
  lines: readonly L[],
): Promise<Pairing<C, L>> {
  const amounts = new Set(corrections.map(({ amount }) => amount));
  const told = groupBy(
    lines
      .filter(({ amount }) => amounts.has(amount))
      .map((line) => ({ line, words: findTellingWords(line.description) })),
    ({ line }) => line.amount,
  );
  const possible: Possible<C, L>[] = [];
  const doubtful = new Set<string>();
  for await (const correction of iterateInSlices(corrections)) {
    const words = findTellingWords(correction.description);
    for (const { line, words: theirs } of told.get(correction.amount) ?? []) {
      const days = correction.day === null ? 0 : (Date.parse(correction.day) - Date.parse(line.day)) / dayMs;
      if (!isNear(days)) {
        continue;
      }
      const score = scoreOverlap(words, theirs);
      if (score > 0 && correction.day !== null) {
        possible.push({ correction, line, score, days });
      } else if (score > 0 || words.length === 0 || theirs.length === 0) {
        doubtful.add(line.key);
      }
    }
  }
  const picked = pickPairs(possible, doubtful);
  const paired = new Set(picked.pairs.map(({ correction }) => correction.key));
  const taken = new Set(picked.pairs.map(({ line }) => line.key));
  for await (const { day, amount } of iterateInSlices(corrections.filter(({ key }) => !paired.has(key)))) {
    (told.get(amount) ?? [])
      .filter(({ line }) => !taken.has(line.key) && isNearDay(line.day, day))
      .forEach(({ line }) => doubtful.add(line.key));
  }
  return picked;
}

function isNear(days: number): boolean {
  return days <= correctedWithinDays && days >= -correctedBeforeDays;
}

/** True if a line of the day `later` may take back one of the day `day`. A null may be any day. */
export function isNearDay(day: string, later: string | null): boolean {
  return later === null || isNear((Date.parse(later) - Date.parse(day)) / dayMs);
}

function pickPairs<C extends Correcting, L extends Correctable>(
  possible: readonly Possible<C, L>[],
  doubtful: Set<string>,
): Pairing<C, L> {
  const taken = new Set<string>();
  const picked = new Map<string, Possible<C, L>>();
  for (const each of [...possible].sort(compareLikelihood)) {
    if (!taken.has(each.line.key) && !picked.has(each.correction.key)) {
      taken.add(each.line.key);
      picked.set(each.correction.key, each);
    }
  }
  for (const { correction, line, score } of possible) {
    const best = picked.get(correction.key);
    if (best && score === best.score && !taken.has(line.key) && line.description !== best.line.description) {
      doubtful.add(line.key);
    }
  }
  const pairs = [...picked.values()].map(({ correction, line }) => ({ correction, line }));
  return { pairs, doubtful };
}

function compareLikelihood<C, L extends Correctable>(a: Possible<C, L>, b: Possible<C, L>): number {
  return (
    b.score - a.score ||
    Number(b.line.isFree) - Number(a.line.isFree) ||
    Number(b.days >= 0) - Number(a.days >= 0) ||
    Math.abs(a.days) - Math.abs(b.days)
  );
}
