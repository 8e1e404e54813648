/**
 * Mutates the corpus: the result stays the same, or the response is refused or unknown. It never
 * has another amount, and no other outcome becomes a success.
 */
import { expect } from 'chai';
import { seededRandom } from '../support/random.js';
import { readDigiflazzCorpus, startCorpusReader, type CorpusCase } from './digiflazz-corpus.js';

const mutations = 100_000;

type Json = string | number | boolean | null | Json[] | { [key: string]: Json };
type Random = (below: number) => number;

/** Values that PHP engines, proxies and damaged responses put in the place of a field. */
const oddValues: Json[] = [
  '',
  ' ',
  '-',
  'null',
  'text',
  '1.000',
  '1,000',
  '1e9',
  '0x10',
  'NaN',
  '٣٠٠',
  'Rp 10.000',
  '-5',
  null,
  true,
  false,
  [],
  {},
  [[]],
  { a: 1 },
  [1],
  -1,
  1e300,
  Number.MAX_SAFE_INTEGER + 1,
];

interface Place {
  holder: { [key: string]: Json } | Json[];
  key: string;
}

function listPlaces(value: Json): Place[] {
  if (typeof value !== 'object' || value === null) {
    return [];
  }
  const holder = value as { [key: string]: Json };
  return Object.keys(holder).flatMap((key) => [{ holder, key }, ...listPlaces(holder[key] ?? null)]);
}

function mutateTree(text: string, random: Random): string {
  const tree = JSON.parse(text.replace(/^\ufeff/, '')) as Json;
  for (let left = 1 + random(3); left > 0; left--) {
    const places = listPlaces(tree);
    const place = places[random(places.length)];
    if (!place) {
      break;
    }
    const holder = place.holder as { [key: string]: Json };
    const value = holder[place.key] ?? null;
    switch (random(5)) {
      case 0:
        Reflect.deleteProperty(holder, place.key);
        break;
      case 1:
        holder[place.key] = typeof value === 'number' ? String(value) : [value];
        break;
      case 2:
        holder[place.key] = typeof value === 'number' ? `${value}.00` : { value };
        break;
      case 3:
        holder[`x_${place.key}`] = value;
        break;
      default: {
        // A copy, because a later change must not put a value into itself.
        const odd = structuredClone(oddValues[random(oddValues.length)] ?? null);
        // A negative balance is a balance.
        holder[place.key] = place.key === 'deposit' && Number(odd) < 0 ? null : odd;
      }
    }
  }
  return JSON.stringify(tree);
}

function mutateText(text: string, random: Random): string {
  const at = random(text.length + 1);
  const noise = ['"', '{', '}', ',', ':', '[', ']', '\\', '\u0000', '\ufeff', '\u00a0', ' ', '<html>', '\n'];
  switch (random(4)) {
    case 0:
      return text.slice(0, at);
    case 1:
      return text.slice(0, at) + (noise[random(noise.length)] ?? '') + text.slice(at);
    case 2:
      return `${noise[random(noise.length)] ?? ''}${text}`;
    default:
      return text + text.slice(at);
  }
}

/** The part of a result that moves money. Null if the result moves none. */
function getMoneyFacts(result: object): object | null {
  const { outcome, bill, cost, ok, value } = result as Record<string, unknown>;
  switch (outcome ?? ok) {
    case 'success':
      return { outcome, cost };
    case 'bill': {
      const { totalBill, adminFee, totalAmount } = bill as Record<string, number>;
      return { outcome, totalBill, adminFee, totalAmount };
    }
    case true:
      return { value };
    default:
      return null;
  }
}

/** A lost informative cost opens no case, and a result that moves no money harms nobody. */
function isHarmless(found: object, expected: object): boolean {
  const facts = getMoneyFacts(found);
  if (facts === null || (found as { outcome?: string }).outcome === 'meter') {
    return true;
  }
  const right = getMoneyFacts(expected);
  const alternatives = [right, right && 'cost' in right ? { ...right, cost: null } : null];
  return alternatives.some((each) => JSON.stringify(each) === JSON.stringify(facts));
}

describe('mutated responses of Digiflazz', function () {
  this.timeout(600_000);
  let reader: Awaited<ReturnType<typeof startCorpusReader>>;
  before(async () => (reader = await startCorpusReader()));
  after(() => reader.stop());

  const numbers = seededRandom();
  const random: Random = (below) => Math.floor(numbers() * below);
  it(`have no other amount and become no success; ${numbers.seed}`, async () => {
    // Without its reference, a response belongs to the order of its connection.
    const corpus = readDigiflazzCorpus().filter(({ name }) => name !== 'bill-of-another-order');
    for (let n = 0; n < mutations; n++) {
      const original = corpus[random(corpus.length)] as CorpusCase;
      const mutate = random(2) === 0 ? mutateTree : mutateText;
      const response = mutate(original.response, random);
      const found = await reader.read(original.call, response);
      expect(
        isHarmless(found, original.expected),
        `${numbers.seed} ${original.name} ${response} gave ${JSON.stringify(found)}`,
      ).to.equal(true);
    }
  });
});
