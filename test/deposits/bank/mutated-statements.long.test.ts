/**
 * Statements with damaged structure: separators, quotes, line ends, spaces and whole cells. Digits,
 * signs and words stay as they are, because a reader cannot know that they were different.
 */
import { expect } from 'chai';
import { readBankStatement } from '../../../src/deposits/bank/read-bank-statement.js';
import { ValidationError } from '../../../src/shared/errors.js';
import { seededRandom } from '../../support/random.js';
import { sizes } from '../../support/sizes.js';
import { corpusDay, readCorpus } from './corpus.js';

const random = seededRandom();
const below = (count: number) => Math.floor(random() * count);
const structure = [',', ';', '\t', '"', "'", '\n', '\r\n', ' ', '""', '","'];

/** Deletes or inserts a character of the structure, or doubles or removes a piece of a line. */
function mutate(text: string): string {
  const place = below(text.length);
  const [before, after] = [text.slice(0, place), text.slice(place)];
  const length = 1 + below(40);
  switch (below(4)) {
    case 0:
      return /^[,;\t"'\n ]/.test(after) ? before + after.slice(1) : text;
    case 1:
      return /[\d+-]$/.test(before) && /^\d/.test(after)
        ? text
        : before + (structure[below(structure.length)] ?? '') + after;
    case 2:
      return isPiece(text, place, length) ? before + after.slice(length) : text;
    default:
      return isPiece(text, place, length) ? before + after.slice(0, length) + after : text;
  }
}

/** True for whole cells of one line. A comma between digits may belong to an amount (`75,002.00`). */
function isPiece(text: string, place: number, length: number): boolean {
  const isInNumber = (at: number) => /^\d,\d$/.test(text.slice(at - 1, at + 2));
  return (
    place + length < text.length &&
    /^[,;\t][^\n]*[,;\t\n]$/.test(text.slice(place, place + length + 1)) &&
    !isInNumber(place) &&
    !isInNumber(place + length)
  );
}

describe(`damaged bank statements ${random.seed}`, function () {
  this.timeout(sizes.bankStatementMutations.limitMs);

  it('give the same payments or refusals, never another amount or day', async () => {
    const corpus = readCorpus();
    for (let round = 0; round < sizes.bankStatementMutations.rounds; round += 1) {
      const file = corpus[below(corpus.length)];
      // Several damages of the headings or of a line can cancel each other out. They are then another
      // statement.
      const changed = new Set<number>();
      const lines = (file?.text ?? '').split(/(?<=\n)/);
      const body = lines.splice((file?.expected.incoming[0]?.line ?? 1) - 1);
      let head = lines.join('');
      if (random() < 0.2) {
        head = mutate(head);
      } else {
        for (let left = 1 + below(3); left > 0; left -= 1) {
          const place = below(body.length);
          body[place] = changed.has(place) ? (body[place] ?? '') : mutate(body[place] ?? '');
          changed.add(place);
        }
      }
      const text = head + body.join('');
      const known = new Set(file?.expected.incoming.map(({ amount }) => amount));
      const read = await readBankStatement(Buffer.from(text)).catch((error: unknown) => {
        expect(error, text).to.be.instanceOf(ValidationError);
        return null;
      });
      for (const { amount, day } of read?.incoming ?? []) {
        expect(
          known.has(amount) && day === corpusDay,
          `round ${round}: ${amount} on ${day}\n${text}`,
        ).to.equal(true);
      }
    }
  });
});
