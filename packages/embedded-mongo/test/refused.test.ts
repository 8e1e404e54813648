import { expect } from 'chai';
import type { Collection, Document } from 'mongodb';
import { refusedAccumulators, refusedOperators, refusedStages } from '../src/aggregation/unsupported.js';
import { errorOf, startFixture, stopFixture } from './harness.js';
import type { Fixture } from './harness.js';

type Refused = Readonly<Record<number, readonly string[]>>;

/** The kinds of refused names, each with a pipeline that uses such a name. */
const kinds: readonly (readonly [kind: string, refused: Refused, use: (name: string) => Document[]])[] = [
  ['stage', refusedStages, (name) => [{ $match: {} }, { [name]: {} }]],
  ['stage in $facet', refusedStages, (name) => [{ $facet: { a: [{ [name]: {} }] } }]],
  ['accumulator', refusedAccumulators, (name) => [{ $group: { _id: null, value: { [name]: '$a' } } }]],
  ['expression', refusedOperators, (name) => [{ $addFields: { value: { [name]: '$a' } } }]],
  ['expression in $project', refusedOperators, (name) => [{ $project: { value: { [name]: '$a' } } }]],
  ['expression in $expr', refusedOperators, (name) => [{ $match: { $expr: { [name]: '$a' } } }]],
];

const commands = [
  'authenticate',
  'bulkWrite',
  'collMod',
  'createSearchIndexes',
  'createUser',
  'dropSearchIndex',
  'mapReduce',
  'saslContinue',
  'saslStart',
  'startSession',
  'updateSearchIndex',
];

const filters: readonly Document[] = [
  ...['$where', '$jsonSchema', '$sampleRate', '$text'].map((name) => ({ [name]: 1 })),
  ...['$geoWithin', '$geoIntersects', '$near', '$nearSphere'].map((name) => ({ a: { [name]: 1 } })),
  ...['$bitsAllSet', '$bitsAllClear', '$bitsAnySet', '$bitsAnyClear'].map((name) => ({ a: { [name]: 1 } })),
];

/** Unsupported options that would change the effect of a command. They must not be ignored. */
const options: readonly (readonly [field: string, command: Document])[] = [
  ['changeStreamPreAndPostImages', { create: 'c', changeStreamPreAndPostImages: { enabled: true } }],
  ['capped', { create: 'c', capped: true, size: 1000 }],
  ['clusteredIndex', { create: 'c', clusteredIndex: { key: { _id: 1 }, unique: true } }],
  ['timeseries', { create: 'c', timeseries: { timeField: 'at' } }],
  ['validator', { create: 'c', validator: { a: 1 } }],
  ['viewOn', { create: 'c', viewOn: 'd' }],
  ['collation', { find: 'c', collation: { locale: 'en', strength: 2 } }],
  ['collation', { findAndModify: 'c', remove: true, collation: { locale: 'en' } }],
  ['min', { find: 'c', min: { a: 1 }, hint: { a: 1 } }],
  ['returnKey', { find: 'c', returnKey: true }],
  ['apiVersion', { find: 'c', apiVersion: '1' }],
  [
    'pipeline in whenMatched',
    { aggregate: 'c', pipeline: [{ $merge: { into: 'd', whenMatched: [] } }], cursor: {} },
  ],
];

/** Unsupported forms of supported stages. */
const forms: readonly (readonly [name: string, stage: Document])[] = [
  ["$lookup with 'let'", { $lookup: { from: 'd', let: { a: 1 }, pipeline: [], as: 'found' } }],
  ["$lookup with a 'pipeline' but without", { $lookup: { from: 'd', pipeline: [], as: 'found' } }],
];

describe('features that embedded-mongo does not support', () => {
  let fixture: Fixture;
  let collection: Collection;
  before(async () => {
    fixture = await startFixture();
    collection = fixture.collection();
  });
  after(() => stopFixture(fixture));

  for (const [kind, refused, use] of kinds) {
    it(`${kind}: each is refused by name`, async () => {
      for (const [code, names] of Object.entries(refused)) {
        for (const name of names) {
          const error = await errorOf(collection.aggregate(use(name)).toArray());
          expect(error.code, name).to.equal(Number(code));
          expect(error.message).to.equal(`${name} is not supported by embedded-mongo`);
        }
      }
    });
  }

  it('a name that MongoDB does not have either is reported as unknown', async () => {
    const codes = kinds.map(
      async ([, , use]) => (await errorOf(collection.aggregate(use('$nope')).toArray())).code,
    );
    expect(await Promise.all(codes)).to.deep.equal([40324, 40324, 15952, 168, 31325, 168]);
    expect((await errorOf(fixture.db.command({ nope: 1 }))).code).to.equal(59);
  });

  it('filters and updates: each operator is refused by name', async () => {
    for (const filter of filters) {
      const [name = ''] = Object.keys((filter['a'] as Document | undefined) ?? filter);
      const error = await errorOf(collection.find(filter).toArray());
      expect(error.code).to.equal(name === '$text' ? 27 : 238);
      expect(error.message).to.include(name).and.to.include('not supported');
    }
    const error = await errorOf(collection.updateOne({}, { $bit: { a: { and: 1 } } }));
    expect(error).to.include({ code: 238, message: '$bit is not supported by embedded-mongo' });
  });

  for (const [name, stage] of forms) {
    it(`${name} is refused by name`, async () => {
      const error = await errorOf(collection.aggregate([stage]).toArray());
      expect(error.code).to.equal(238);
      expect(error.message).to.include(name).and.to.include('not supported');
    });
  }

  for (const name of commands) {
    it(`the command ${name} is refused by name`, async () => {
      const error = await errorOf(fixture.db.command({ [name]: 'c' }));
      expect(error).to.include({ code: 115 });
      expect(error.message).to.include(name);
    });
  }

  for (const [field, command] of options) {
    it(`refuses the option ${field} of ${Object.keys(command)[0] ?? ''} with an error that names it`, async () => {
      const error = await errorOf(fixture.db.command(command));
      expect(error.code).to.be.oneOf([115, 238, 40415]);
      expect(error.message).to.include(field);
    });
  }
});
