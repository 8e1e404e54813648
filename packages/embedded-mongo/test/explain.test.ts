import { expect } from 'chai';
import type { Collection, Document, Filter, Sort } from 'mongodb';
import { errorOf, startFixture, stopFixture, type Fixture } from './harness.js';
import { createRandom } from './random.js';

const SEED = Number(process.env['PLAN_SEED'] ?? Date.now() % 1_000_000);

describe('the planner', () => {
  let fixture: Fixture;
  let orders: Collection;
  before(async () => {
    fixture = await startFixture();
    orders = fixture.collection();
    await orders.createIndexes([
      { key: { user: 1, at: -1 } },
      { key: { ref: 1 }, unique: true, partialFilterExpression: { ref: { $type: 'string' } } },
      { key: { tags: 1 } },
      { key: { status: 1, at: 1 }, partialFilterExpression: { status: { $in: ['open', 'held'] } } },
      { key: { phone: 1 }, sparse: true },
    ]);
    await orders.insertMany(
      Array.from({ length: 500 }, (_, i) => ({
        _id: i as never,
        user: i % 50,
        at: new Date(1_700_000_000_000 + i * 1000),
        ...(i % 3 === 0 ? { ref: `r${i}` } : {}),
        ...(i % 5 === 0 ? { phone: `08${i}` } : {}),
        tags: [`t${i % 7}`, `t${i % 11}`],
        status: ['open', 'done', 'held'][i % 3],
      })),
    );
  });
  after(() => stopFixture(fixture));

  /**
   * Explains a query. Returns the names of all stages, the index, the statistics and the number of
   * documents.
   */
  async function explainFind(
    filter: Filter<Document>,
    options: { sort?: Sort; limit?: number; hint?: string } = {},
  ): Promise<{ stages: string[]; index: string | undefined; stats: Document; count: number }> {
    const cursor = (): ReturnType<Collection['find']> => orders.find(filter, options);
    const explanation = await cursor().explain('executionStats');
    const stages: string[] = [];
    let index: string | undefined;
    const walk = (stage: Document): void => {
      stages.push(String(stage['stage']));
      index ??= stage['indexName'] as string | undefined;
      for (const inner of [
        stage['inputStage'] as Document | undefined,
        ...((stage['inputStages'] ?? []) as Document[]),
      ]) {
        if (inner !== undefined) {
          walk(inner);
        }
      }
    };
    walk(explanation['queryPlanner'].winningPlan as Document);
    return {
      stages,
      index,
      stats: explanation['executionStats'] as Document,
      count: (await cursor().toArray()).length,
    };
  }

  it('uses an index for _id and equality, and reads only the returned documents', async () => {
    expect((await explainFind({ _id: 3 as never })).stages).to.deep.equal(['IDHACK']);
    const byUser = await explainFind({ user: 7 });
    expect(byUser).to.include({ index: 'user_1_at_-1', count: 10 });
    expect(byUser.stages).to.deep.equal(['FETCH', 'IXSCAN']);
    expect(byUser.stats).to.include({ nReturned: 10, totalKeysExamined: 10, totalDocsExamined: 10 });
  });

  it('prefers the index with fewer entries for two long lists of values', async () => {
    const pairs = fixture.collection();
    await pairs.createIndexes([{ key: { owner: 1, thing: 1 } }, { key: { thing: 1 } }]);
    await pairs.insertMany(Array.from({ length: 4_000 }, (_, i) => ({ owner: i % 80, thing: i })));
    const some = Array.from({ length: 80 }, (_, i) => i);
    const explanation = await pairs
      .find({ owner: { $in: some }, thing: { $in: some } })
      .explain('executionStats');
    expect(explanation['executionStats']).to.include({ nReturned: 80, totalDocsExamined: 80 });
  });

  it('sorts by an index that has the order, and stops at the limit', async () => {
    const latest = await explainFind({ user: 7 }, { sort: { at: -1 }, limit: 3 });
    expect(latest.stages).to.deep.equal(['LIMIT', 'FETCH', 'IXSCAN']);
    expect(latest.stats).to.include({ totalKeysExamined: 3, nReturned: 3 });
    const oldest = await explainFind(
      { user: 7, at: { $gt: new Date(1_700_000_100_000) } },
      { sort: { at: 1 }, limit: 3 },
    );
    expect(oldest.stages).to.not.include('SORT');
    expect((await explainFind({ user: { $in: [1, 2] } }, { sort: { at: 1 } })).stages).to.include('SORT');
  });

  it('uses a partial index only if the filter certainly implies it', async () => {
    expect(await explainFind({ ref: { $eq: 'r3', $type: 'string' } })).to.include({
      index: 'ref_1',
      count: 1,
    });
    // As in MongoDB, only an identical `$type` implies a type. The type of a compared value does
    // not.
    expect((await explainFind({ ref: 'r3' })).stages).to.deep.equal(['COLLSCAN']);
    expect((await explainFind({ ref: { $in: ['r3', 'r4'] } })).stages).to.deep.equal(['COLLSCAN']);
    expect((await explainFind({ ref: null })).stages).to.deep.equal(['COLLSCAN']);
    expect(await explainFind({ status: 'open' })).to.include({ index: 'status_1_at_1' });
    expect((await explainFind({ status: 'done' })).stages).to.deep.equal(['COLLSCAN']);
    expect((await explainFind({ status: { $in: ['open', 'done'] } })).stages).to.deep.equal(['COLLSCAN']);
  });

  it('uses a sparse index only if the filter requires the field', async () => {
    expect(await explainFind({ phone: '0810' })).to.include({ index: 'phone_1' });
    expect((await explainFind({}, { sort: { phone: 1 } })).stages).to.deep.equal(['SORT', 'COLLSCAN']);
    expect((await explainFind({}, { sort: { phone: 1 } })).count).to.equal(500);
  });

  it('uses an index per branch of $or, and returns each document once', async () => {
    const both = await explainFind({ $or: [{ user: 7 }, { tags: 't1' }] });
    expect(both.stages).to.include.members(['OR', 'IXSCAN']);
    expect(both.count).to.equal(
      (
        await orders
          .find({ $or: [{ user: 7 }, { tags: 't1' }] })
          .hint({ $natural: 1 })
          .toArray()
      ).length,
    );
    expect((await explainFind({ $or: [{ user: 7 }, { nothing: 1 }] })).stages).to.deep.equal(['COLLSCAN']);
  });

  it('follows a hint, and refuses a hint without an index', async () => {
    expect(await explainFind({ user: 7 }, { hint: 'tags_1' })).to.include({ index: 'tags_1', count: 10 });
    expect((await errorOf(orders.find({}, { hint: 'nope' }).toArray())).code).to.equal(2);
    expect((await errorOf(orders.updateOne({}, { $set: { a: 1 } }, { hint: 'nope' }))).code).to.equal(2);
  });

  it('explains counts and aggregations, and refuses to explain writes', async () => {
    const run = async (command: Document): Promise<Document> =>
      fixture.db.command({ explain: command, verbosity: 'executionStats' });
    const name = orders.collectionName;
    const counted = await run({ count: name, query: { tags: 't1' } });
    expect(counted['queryPlanner'].winningPlan.stage).to.equal('COUNT');
    const update = { update: name, updates: [{ q: { user: 1 }, u: { $set: { x: 1 } } }] };
    expect((await errorOf(run(update))).code).to.equal(238);
    const pipeline = [{ $match: { user: 1 } }, { $group: { _id: '$status', n: { $sum: 1 } } }];
    const aggregated = await run({ aggregate: name, pipeline, cursor: {} });
    expect(aggregated['stages'][0].$cursor.queryPlanner.winningPlan.inputStage.indexName).to.equal(
      'user_1_at_-1',
    );
  });

  it(`finds the same documents with and without indexes (seed ${SEED})`, async () => {
    const random = createRandom(SEED);
    const fields = ['a', 'b', 'c.d'];
    const value = (): unknown =>
      random.pick([null, 1, 2, 3, 'x', 'y', true, [1, 2], [], [3, 'x'], new Date(random.int(0, 3))]);
    const indexed = fixture.collection();
    await indexed.createIndexes([
      { key: { a: 1, b: -1 } },
      { key: { b: 1 } },
      { key: { 'c.d': 1, a: 1 } },
      { key: { a: -1 }, name: 'sparse', sparse: true },
      { key: { b: -1 }, name: 'partial', partialFilterExpression: { a: { $gt: 1 } } },
    ]);
    const documents = Array.from({ length: 120 }, (_, i) => {
      const document: Document = { _id: i };
      if (random.int(0, 3) > 0) {
        document['a'] = value();
      }
      if (random.int(0, 3) > 0 && !Array.isArray(document['a'])) {
        document['b'] = value();
      }
      if (random.int(0, 3) > 0 && !Array.isArray(document['a'])) {
        document['c'] = random.pick([{ d: value() }, [{ d: random.int(0, 3) }, { d: 2 }], {}, null]);
      }
      return document;
    });
    await indexed.insertMany(documents);
    const condition = (): unknown =>
      random.pick<() => unknown>([
        value,
        () => ({ $gt: value() }),
        () => ({ $lte: value() }),
        () => ({ $gt: random.int(0, 2), $lt: random.int(1, 4) }),
        () => ({ $in: [value(), value()] }),
        () => ({ $ne: value() }),
        () => ({ $exists: random.int(0, 1) === 1 }),
        () => ({ $elemMatch: { $gt: 1, $lt: 4 } }),
      ])();
    for (let i = 0; i < 150; i++) {
      const single = (): Document =>
        Object.fromEntries(
          Array.from({ length: random.int(0, 2) }, () => [random.pick(fields), condition()]),
        );
      const filter = random.int(0, 4) === 0 ? { $or: [{ a: condition() }, { b: condition() }] } : single();
      const sort: Document = Object.fromEntries([
        [random.pick(fields), random.pick([1, -1])],
        ['_id', 1],
      ]);
      const ids = async (hint: Document | undefined): Promise<unknown[]> => {
        const cursor = indexed.find(filter).sort(sort);
        const rows = await (hint === undefined ? cursor : cursor.hint(hint)).toArray();
        return rows.map(({ _id }) => _id as unknown);
      };
      let expected: unknown[];
      try {
        expected = await ids({ $natural: 1 });
      } catch {
        continue;
      }
      expect(await ids(undefined), `${JSON.stringify(filter)} sort ${JSON.stringify(sort)}`).to.deep.equal(
        expected,
      );
    }
  });
});
