import { iterateInSlices } from '../../shared/collections.js';
import { findReferences } from './correction-text.js';
import { isNearDay } from './pair-corrections.js';
import type { IncomingLine, OutgoingLine } from './read-bank-statement.js';

/** Shortest part of a cut reference that counts. */
const cutLengthMin = 6;
const prefixLengthMax = 64;
/** A word of more lines is no reference: it is the number of an account or of a product. */
const linesPerReferenceMax = 10;

/**
 * Finds incoming lines whose reference an outgoing line repeats, whatever its words: the bank may have
 * taken them back. References may be cut in either line.
 * @param which Whether only lines of the same amount count.
 * @returns The keys of the lines.
 */
export async function findReferred(
  outgoing: readonly Omit<OutgoingLine, 'line'>[],
  incoming: readonly IncomingLine[],
  which: 'same-amount' | 'any-amount',
): Promise<Set<string>> {
  const amounts = new Set(outgoing.map(({ amount }) => amount));
  const before = (amount: number) => (which === 'same-amount' ? `${amount} ` : ' ');
  const linesOf = new Map<string, IncomingLine[]>();
  for await (const line of iterateInSlices(outgoing.length === 0 ? [] : incoming)) {
    if (which === 'any-amount' || amounts.has(line.amount)) {
      for (const word of findReferences(line.description)) {
        const lines = linesOf.get(before(line.amount) + word) ?? [];
        linesOf.set(before(line.amount) + word, lines);
        lines.push(line);
      }
    }
  }
  const words = [...linesOf.keys()].sort();
  const daysOf = new Map<string, Set<string | null>>();
  for await (const { amount, day, description } of iterateInSlices(linesOf.size === 0 ? [] : outgoing)) {
    for (const reference of findReferences(description)) {
      const word = before(amount) + reference;
      daysOf.set(word, (daysOf.get(word) ?? new Set()).add(day));
    }
  }
  const found = new Set<string>();
  for await (const [word, days] of iterateInSlices(daysOf)) {
    const lines = findSame(word, words).flatMap((each) => linesOf.get(each) ?? []);
    if (which === 'same-amount' || lines.length <= linesPerReferenceMax) {
      lines
        .filter((line) => [...days].some((day) => isNearDay(line.day, day)))
        .forEach(({ key }) => found.add(key));
    }
  }
  return found;
}

/** Returns the words, of a sorted list, that are equal to a word, or cut from it or it from them. */
function findSame(word: string, sorted: readonly string[]): string[] {
  const lengthMin = word.indexOf(' ') + 1 + cutLengthMin;
  const found: string[] = [];
  for (let end = lengthMin; end < Math.min(word.length, lengthMin + prefixLengthMax); end += 1) {
    const cut = word.slice(0, end);
    if (sorted[findPlace(cut, sorted)] === cut) {
      found.push(cut);
    }
  }
  for (let place = findPlace(word, sorted); place < sorted.length; place += 1) {
    const each = sorted[place] ?? '';
    if (each !== word && (word.length < lengthMin || !each.startsWith(word))) {
      break;
    }
    found.push(each);
  }
  return found;
}

/** Returns the place of the first word that is not before the given one. */
function findPlace(word: string, sorted: readonly string[]): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    [low, high] = (sorted[middle] ?? '') < word ? [middle + 1, high] : [low, middle];
  }
  return low;
}
