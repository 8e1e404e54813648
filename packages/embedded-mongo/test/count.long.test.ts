import { expect } from 'chai';
import type { ClientSession, Collection, Filter } from 'mongodb';
import { errorOf, startFixture, stopFixture, type Fixture } from './harness.js';
import { createRandom, type Random } from './random.js';
import { sizes } from './sizes.js';

const SEED = Number(process.env['COUNT_SEED'] ?? Date.now() % 1_000_000);
const IDS = 60;

/** Documents with all kinds of values that an index range could wrongly include or exclude. */
interface Row {
  _id: number;
  a?: number | string | null;
  b?: number;
  tags: string[];
  status: string;
}

describe('a count over an index range', () => {
  let fixture: Fixture;
  before(async () => {
    fixture = await startFixture();
  });
  after(() => stopFixture(fixture));

  it(`matches the view of each reader while transactions are open (seed ${SEED})`, async function () {
    this.timeout(sizes.count.steps * 100);
    const rows = fixture.collection<Row>();
    await rows.createIndexes([
      { key: { a: 1, b: 1 } },
      { key: { b: -1 } },
      { key: { tags: 1, b: 1 } },
      { key: { status: 1, b: 1 }, partialFilterExpression: { status: 'open' } },
    ]);
    const model = new Model(fixture, rows);
    for (let step = 0; step < sizes.count.steps; step++) {
      await model.write();
      for (const reader of [undefined, model.anySession()]) {
        await model.compare(reader, `step ${step}`);
      }
    }
    await model.end();
  });

  it('examines only the keys needed to find both ends', async () => {
    const examined: number[] = [];
    for (const size of [2_000, 32_000]) {
      const rows = fixture.collection<{ user: number; n: number }>();
      await rows.createIndexes([{ key: { user: 1, n: 1 } }]);
      await rows.insertMany(Array.from({ length: size }, (_, n) => ({ user: n % 2, n })));
      const query = { user: 1, n: { $gt: 10, $lte: size - 20 } };
      const { queryPlanner, executionStats } = await fixture.db.command({
        explain: { count: rows.collectionName, query },
        verbosity: 'executionStats',
      });
      expect(queryPlanner.winningPlan).to.have.nested.property('inputStage.stage', 'COUNT_SCAN');
      expect(executionStats.executionStages.inputStage.nReturned).to.equal((size - 30) / 2);
      expect(executionStats.totalDocsExamined).to.equal(0);
      expect(executionStats.totalKeysExamined).to.be.within(2, 2 * Math.log2(size) + 10);
      examined.push(executionStats.totalKeysExamined as number);
      expect(await rows.countDocuments(query)).to.equal((size - 30) / 2);
      expect(await rows.countDocuments(query, { skip: 7, limit: size })).to.equal((size - 30) / 2 - 7);
      expect(await rows.countDocuments(query, { skip: 7, limit: 5 })).to.equal(5);
      // The next count must reflect these changes.
      await rows.deleteMany({ user: 1, n: { $gte: 501, $lte: 521 } });
      await rows.insertMany(Array.from({ length: 10 }, (_, n) => ({ user: 1, n: 500.5 + n })));
      expect(await rows.countDocuments(query)).to.equal((size - 30) / 2 - 11 + 10);
      expect(await rows.countDocuments({ user: 1, n: { $gt: 1000 } })).to.equal(size / 2 - 500);
    }
    const [small = 0, large = 0] = examined;
    expect(large - small, '16 times the keys: at most 4 more steps at each end').to.be.at.most(10);
  });
});

/**
 * Makes random writes inside and outside of transactions. Compares each count with the number of
 * documents that the same reader finds.
 */
class Model {
  readonly #random: Random = createRandom(SEED);
  /** The open transactions, each with the ids of the documents that it has locked. */
  readonly #open = new Map<ClientSession, Set<number>>();
  readonly #sessions: ClientSession[];
  readonly #rows: Collection<Row>;

  constructor({ client }: Fixture, rows: Collection<Row>) {
    this.#rows = rows;
    this.#sessions = [0, 1, 2].map(() => client.startSession());
  }

  anySession(): ClientSession | undefined {
    const sessions = [...this.#open.keys()];
    return sessions[this.#random.int(0, sessions.length)];
  }

  async write(): Promise<void> {
    const session = this.#random.int(0, 2) === 0 ? undefined : this.#random.pick(this.#sessions);
    if (session !== undefined && this.#random.int(0, 7) === 0) {
      await this.#finish(session);
      return;
    }
    const _id = this.#random.int(1, IDS);
    if (session === undefined) {
      // Skip locked documents. A write outside of a transaction would wait for the lock.
      if (![...this.#open.values()].some((locked) => locked.has(_id))) {
        await this.#change(_id, undefined);
      }
      return;
    }
    if (!this.#open.has(session)) {
      session.startTransaction();
      this.#open.set(session, new Set());
    }
    try {
      await this.#change(_id, session);
      this.#open.get(session)?.add(_id);
    } catch (error) {
      expect((error as { code?: unknown }).code, String(error)).to.equal(112);
      await session.abortTransaction();
      this.#open.delete(session);
    }
  }

  async #change(_id: number, session: ClientSession | undefined): Promise<void> {
    const options = session === undefined ? {} : { session };
    if (this.#random.int(0, 4) === 0) {
      await this.#rows.deleteOne({ _id }, options);
    } else if (this.#random.int(0, 3) === 0) {
      await this.#rows.updateOne({ _id }, { $inc: { b: this.#random.int(-2, 2) } }, options);
    } else {
      await this.#rows.replaceOne({ _id }, this.#row(), { ...options, upsert: true });
    }
  }

  #row(): Omit<Row, '_id'> {
    const random = this.#random;
    return {
      ...random.pick([{}, { a: null }, ...[0, 1, 2, 2, 2.5, 3, Number.NaN, 'x'].map((a) => ({ a }))]),
      b: random.pick([0, 1, 2, 3, 4, 5, Number.NaN]),
      tags: Array.from({ length: random.int(0, 3) }, () => random.pick(['p', 'q', 'r'])),
      status: random.pick(['open', 'done']),
    };
  }

  async #finish(session: ClientSession): Promise<void> {
    if (this.#open.delete(session)) {
      await (this.#random.int(0, 2) === 0 ? session.abortTransaction() : session.commitTransaction());
    }
  }

  async compare(session: ClientSession | undefined, step: string): Promise<void> {
    const { filter, matches } = this.#query();
    const options = session === undefined ? {} : { session };
    const found = (await this.#rows.find({}, options).toArray()).filter(matches).length;
    const shown = `${step}, ${session === undefined ? 'plain' : 'a transaction'}: ${JSON.stringify(filter)}`;
    expect(await this.#rows.countDocuments(filter, options), shown).to.equal(found);
    expect((await this.#rows.find(filter, options).toArray()).length, shown).to.equal(found);
  }

  #query(): { filter: Filter<Row>; matches: (row: Row) => boolean } {
    const random = this.#random;
    const [low, high] = [random.int(0, 3), random.int(2, 5)];
    const tag = random.pick(['p', 'q', 'r']);
    const b = ({ b: value = -1 }: Row): number => value;
    return random.pick<{ filter: Filter<Row>; matches: (row: Row) => boolean }>([
      { filter: {}, matches: () => true },
      { filter: { a: low }, matches: ({ a }) => a === low },
      { filter: { a: { $in: [low, 'x'] } }, matches: ({ a }) => a === low || a === 'x' },
      { filter: { a: { $lt: high } }, matches: ({ a }) => typeof a === 'number' && a < high },
      { filter: { a: null }, matches: ({ a }) => a === null || a === undefined },
      {
        filter: { a: 2, b: { $gt: low, $lte: high } },
        matches: (row) => row.a === 2 && b(row) > low && b(row) <= high,
      },
      { filter: { b: { $gte: low } }, matches: (row) => b(row) >= low },
      { filter: { b: { $lt: high } }, matches: (row) => row.b !== undefined && row.b < high },
      { filter: { b: { $lte: Number.NaN } }, matches: (row) => Number.isNaN(row.b) },
      { filter: { tags: tag }, matches: ({ tags }) => tags.includes(tag) },
      { filter: { tags: tag, b: low }, matches: (row) => row.tags.includes(tag) && row.b === low },
      {
        filter: { tags: { $in: ['p', tag] } },
        matches: ({ tags }) => tags.includes('p') || tags.includes(tag),
      },
      {
        filter: { tags: { $gte: 'q', $lt: 'r' } },
        matches: ({ tags }) => tags.some((each) => each >= 'q') && tags.some((each) => each < 'r'),
      },
      { filter: { tags: { $gte: 'q' } }, matches: ({ tags }) => tags.some((each) => each >= 'q') },
      {
        filter: { status: 'open', b: { $gt: low } },
        matches: (row) => row.status === 'open' && b(row) > low,
      },
    ]);
  }

  async end(): Promise<void> {
    for (const session of this.#sessions) {
      await this.#finish(session);
      await session.endSession();
    }
    // Without open transactions, all ways of counting must return the same number.
    const all = await this.#rows.find().toArray();
    expect(await this.#rows.estimatedDocumentCount()).to.equal(all.length);
    const [counted] = await this.#rows.aggregate([{ $group: { _id: null, rows: { $sum: 1 } } }]).toArray();
    expect(counted).to.deep.equal({ _id: null, rows: all.length });
    const hinted = this.#rows.countDocuments({}, { hint: 'no_such_index' });
    expect((await errorOf(hinted)).code).to.equal(2);
  }
}
