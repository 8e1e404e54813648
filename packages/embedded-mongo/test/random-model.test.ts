import { expect } from 'chai';
import type { Collection, Document } from 'mongodb';
import { startFixture, stopFixture } from './harness.js';
import type { Fixture } from './harness.js';
import { createRandom } from './random.js';
import type { Random } from './random.js';

/**
 * Tests random filters and updates against a model of the documented rules. The model shares no
 * code with the server. Its documents contain int32 numbers, strings, null, missing fields, arrays
 * of numbers and one embedded document.
 */
interface Model {
  readonly _id: number;
  n?: number;
  s?: string | null;
  a?: number[];
  o?: { x?: number };
}

interface RandomFilter {
  readonly filter: Document;
  readonly matches: (doc: Model) => boolean;
}

interface RandomUpdate {
  readonly update: Document;
  readonly apply: (doc: Model) => void;
}

// Set SEED to replay a failure: each test name contains its seed.
const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000);
const DOCUMENTS = 12;
const STEPS = 200;

/**
 * Returns the values that a condition at a path tests: the elements of an array, and then the value
 * itself. The list is empty for a missing field.
 */
function readPath(doc: Model, path: string): readonly unknown[] {
  const value = path === 'o.x' ? doc.o?.x : doc[path as keyof Model];
  if (value === undefined) {
    return [];
  }
  return Array.isArray(value) ? [...value, value] : [value];
}

function condition(random: Random): { condition: Document; holds: (values: readonly unknown[]) => boolean } {
  const number = random.int(-2, 4);
  const text = random.pick(['', 'a', 'b']);
  const operand = random.pick<number | string>([number, text]);
  const comparable = (value: unknown): value is number | string => typeof value === typeof operand;
  const equals = (values: readonly unknown[]): boolean => values.includes(operand);
  const isNull = (values: readonly unknown[]): boolean => values.length === 0 || values.includes(null);
  return random.pick([
    { condition: { $eq: operand }, holds: equals },
    { condition: { $ne: operand }, holds: (values) => !equals(values) },
    { condition: { $gt: operand }, holds: (values) => values.some((v) => comparable(v) && v > operand) },
    { condition: { $lte: operand }, holds: (values) => values.some((v) => comparable(v) && v <= operand) },
    {
      condition: { $not: { $lt: operand } },
      holds: (values) => !values.some((v) => comparable(v) && v < operand),
    },
    {
      condition: { $in: [number, text] },
      holds: (values) => values.includes(number) || values.includes(text),
    },
    { condition: { $nin: [operand, null] }, holds: (values) => !equals(values) && !isNull(values) },
    { condition: { $eq: null }, holds: isNull },
    { condition: { $exists: true }, holds: (values) => values.length > 0 },
    { condition: { $type: 'string' }, holds: (values) => values.some((v) => typeof v === 'string') },
    {
      condition: { $size: Math.abs(number) },
      holds: (values) => values.some((v) => Array.isArray(v) && v.length === Math.abs(number)),
    },
    {
      condition: { $mod: [2, 1] },
      holds: (values) => values.some((v) => typeof v === 'number' && v % 2 === 1),
    },
  ]);
}

function randomFilter(random: Random, depth = 0): RandomFilter {
  if (depth < 2 && random.int(0, 2) === 0) {
    const parts = [randomFilter(random, depth + 1), randomFilter(random, depth + 1)];
    const filters = parts.map(({ filter }) => filter);
    return random.pick<RandomFilter>([
      { filter: { $and: filters }, matches: (doc) => parts.every((part) => part.matches(doc)) },
      { filter: { $or: filters }, matches: (doc) => parts.some((part) => part.matches(doc)) },
      { filter: { $nor: filters }, matches: (doc) => !parts.some((part) => part.matches(doc)) },
    ]);
  }
  const path = random.pick(['n', 's', 'a', 'o.x', '_id']);
  const { condition: asked, holds } = condition(random);
  return { filter: { [path]: asked }, matches: (doc) => holds(readPath(doc, path)) };
}

function randomUpdate(random: Random): RandomUpdate {
  const number = random.int(-2, 4);
  const text = random.pick(['', 'a', 'b']);
  const list = (doc: Model): number[] => (doc.a ??= []);
  return random.pick<RandomUpdate>([
    { update: { $set: { n: number } }, apply: (doc) => (doc.n = number) },
    { update: { $set: { s: text } }, apply: (doc) => (doc.s = text) },
    { update: { $set: { s: null } }, apply: (doc) => (doc.s = null) },
    { update: { $set: { 'o.x': number } }, apply: (doc) => ((doc.o ??= {}).x = number) },
    { update: { $unset: { n: 1, 'o.x': 1 } }, apply: (doc) => (delete doc.n, delete doc.o?.x) },
    {
      update: { $unset: { a: '', o: '', s: '' } },
      apply: (doc) => (delete doc.a, delete doc.o, delete doc.s),
    },
    { update: { $inc: { n: number } }, apply: (doc) => (doc.n = (doc.n ?? 0) + number) },
    {
      update: { $mul: { n: 2 }, $set: { s: text } },
      apply: (doc) => ((doc.n = (doc.n ?? 0) * 2), (doc.s = text)),
    },
    { update: { $min: { n: number } }, apply: (doc) => (doc.n = Math.min(doc.n ?? number, number)) },
    {
      update: { $max: { 'o.x': number } },
      apply: (doc) => ((doc.o ??= {}).x = Math.max(doc.o.x ?? number, number)),
    },
    { update: { $push: { a: number } }, apply: (doc) => list(doc).push(number) },
    {
      update: { $push: { a: { $each: [number, 0], $sort: -1, $slice: 3 } } },
      apply: (doc) => (doc.a = [...list(doc), number, 0].sort((x, y) => y - x).slice(0, 3)),
    },
    {
      update: { $addToSet: { a: number } },
      apply: (doc) => list(doc).includes(number) || list(doc).push(number),
    },
    {
      update: { $pull: { a: { $gt: number } } },
      apply: (doc) => doc.a && (doc.a = doc.a.filter((v) => v <= number)),
    },
    {
      update: { $pullAll: { a: [0, number] } },
      apply: (doc) => doc.a && (doc.a = doc.a.filter((v) => v !== 0 && v !== number)),
    },
    { update: { $pop: { a: 1 } }, apply: (doc) => doc.a?.pop() },
  ]);
}

function applyUpdate(doc: Model, { apply }: RandomUpdate): Model {
  const copy = structuredClone(doc);
  apply(copy);
  return copy;
}

describe(`random filters and updates (SEED=${seed})`, () => {
  let fixture: Fixture;
  before(async () => {
    fixture = await startFixture();
  });
  after(() => stopFixture(fixture));

  async function readDocuments(collection: Collection<Model>): Promise<Model[]> {
    return collection.find({}).sort({ _id: 1 }).toArray();
  }

  for (const indexed of [false, true]) {
    it(`follow the documented rules, ${indexed ? 'with' : 'without'} indexes`, async () => {
      const random = createRandom(seed);
      const collection = fixture.collection<Model>();
      if (indexed) {
        await collection.createIndexes([
          { key: { n: 1, s: -1 }, name: 'n' },
          { key: { a: 1 }, name: 'a' },
          { key: { 'o.x': 1 }, name: 'o', sparse: true },
        ]);
      }
      let model: Model[] = Array.from({ length: DOCUMENTS }, (_, _id) => ({ _id }));
      await collection.insertMany(structuredClone(model));
      for (let step = 0; step < STEPS; step++) {
        const { filter, matches } = randomFilter(random);
        const change = randomUpdate(random);
        const text = `seed ${seed}, step ${step}: ${JSON.stringify([filter, change.update])}`;
        const found = (await collection.find(filter).toArray()).map(({ _id }) => _id).sort((a, b) => a - b);
        expect(found, text).to.deep.equal(model.filter(matches).map(({ _id }) => _id));
        const after = model.map((doc) => (matches(doc) ? applyUpdate(doc, change) : doc));
        const { matchedCount, modifiedCount } = await collection.updateMany(filter, change.update);
        expect(matchedCount, text).to.equal(found.length);
        // An element that `$push` adds counts as a change, even if `$slice` removes it again.
        const isPush = '$push' in change.update;
        const changed = after.filter((doc, i) => !isSame(doc, model[i]));
        expect(modifiedCount, text).to.equal(isPush ? found.length : changed.length);
        model = after;
        expect(await readDocuments(collection), text).to.deep.equal(model);
      }
    });
  }
});

function isSame(a: Model, b: Model | undefined): boolean {
  const fields = (doc: Model | undefined): string =>
    JSON.stringify([
      doc?.n ?? 'none',
      doc?.s === undefined ? 'none' : doc.s,
      doc?.a ?? 'none',
      doc?.o ?? 'none',
    ]);
  return fields(a) === fields(b);
}
