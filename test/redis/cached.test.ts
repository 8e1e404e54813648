import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { Redis } from 'ioredis';
import { env } from '../../config/env.js';
import { limits } from '../../config/limits.js';
import { projectRoot } from '../../config/project-file.js';
import { AccountModel } from '../../src/accounts/account.model.js';
import { ApiKeyModel } from '../../src/accounts/api-key.model.js';
import { OfferModel } from '../../src/products/offer.model.js';
import { ProductModel } from '../../src/products/product.model.js';
import { ProviderStateModel } from '../../src/providers/provider-state.model.js';
import { createCache } from '../../src/redis/cache.js';
import { writeAndInvalidate } from '../../src/redis/publish-changes.js';
import { UnknownOutcomeError } from '../../src/database/mongo.js';
import { connectRedis, disconnectRedis, redis } from '../../src/redis/connection.js';
import { subscribeToChanges, getSubscriptionEpoch, type Change } from '../../src/redis/subscribe-changes.js';
import { ConflictError } from '../../src/shared/errors.js';
import { eventually } from '../support/eventually.js';
import { asWritten } from '../../src/shared/say.js';

interface Fact {
  id: string;
  owner: string;
}

/** Creates a store that counts its reads and can delay them. */
function store() {
  const rows = new Map<string, Fact>();
  const reads: string[] = [];
  let gate: Promise<void> | null = null;
  return {
    rows,
    reads,
    readsOf: (id: string) => reads.filter((each) => each === id).length,
    load: async (id: string): Promise<Fact | null> => {
      reads.push(id);
      const found = rows.get(id) ?? null;
      await gate;
      return found;
    },
    /** Delays new reads until the caller invokes the returned function. */
    hold: (): (() => void) => {
      let release: () => void = () => undefined;
      gate = new Promise((resolve) => {
        release = resolve;
      });
      return () => {
        gate = null;
        release();
      };
    },
  };
}

const nothing = () => Promise.resolve();

for (const isSubscribed of [true, false]) {
  describe(`the in-process cache, ${isSubscribed ? 'subscribed to changes' : 'not subscribed'}`, () => {
    before(async () => {
      await connectRedis();
      if (isSubscribed) {
        await subscribeToChanges();
      }
      expect(getSubscriptionEpoch() !== 0).to.equal(isSubscribed);
    });
    after(() => disconnectRedis());

    it('shares one load among concurrent callers and keeps its result', async () => {
      const { rows, reads, load } = store();
      rows.set('a', { id: 'a', owner: 'x' });
      const get = createCache({ from: [OfferModel], load });
      const all = await Promise.all([get('a'), get('a'), get('a')]);
      expect(all).to.deep.equal([rows.get('a'), rows.get('a'), rows.get('a')]);
      expect(await get('a')).to.equal(rows.get('a'));
      expect(reads).to.deep.equal(['a']);
    });

    it('does not keep a load that overlaps a change', async () => {
      const { rows, load, hold } = store();
      rows.set('a', { id: 'a', owner: 'old' });
      const get = createCache({ from: [OfferModel], load });
      const releaseEarly = hold();
      const early = get('a');
      await writeAndInvalidate([OfferModel], ['a'], () => {
        rows.set('a', { id: 'a', owner: 'new' });
        return Promise.resolve();
      });
      // The next call must not share the earlier load, which is still running.
      const releaseNext = hold();
      const next = get('a');
      releaseNext();
      expect(await next).to.include({ owner: 'new' });
      releaseEarly();
      expect(await early).to.include({ owner: 'old' });
      expect(await get('a')).to.include({ owner: 'new' });
    });

    it('invalidates only the subjects and collections of a change', async () => {
      const { rows, readsOf, load } = store();
      rows.set('a', { id: 'a', owner: 'x' }).set('b', { id: 'b', owner: 'y' });
      const get = createCache({
        from: [OfferModel],
        load,
        isAbout: ({ owner }, subject) => owner === subject,
      });
      const readBoth = async () => {
        await Promise.all([get('a'), get('b')]);
        return [readsOf('a'), readsOf('b')];
      };
      expect(await readBoth()).to.deep.equal([1, 1]);
      await writeAndInvalidate([OfferModel], ['x'], nothing);
      expect(await readBoth()).to.deep.equal([2, 1]);
      await writeAndInvalidate([AccountModel], ['x'], nothing);
      expect(await readBoth()).to.deep.equal([2, 1]);
      await writeAndInvalidate([AccountModel, OfferModel], null, nothing);
      expect(await readBoth()).to.deep.equal([3, 2]);
    });

    it('drops a negative entry as soon as a change creates the row', async () => {
      const { rows, readsOf, load } = store();
      const get = createCache({ from: [ApiKeyModel], load, isAbout: () => false });
      expect(await get('a')).to.equal(null);
      expect(await get('a')).to.equal(null);
      expect(readsOf('a')).to.equal(1);
      await writeAndInvalidate([ApiKeyModel], ['somebody'], () => {
        rows.set('a', { id: 'a', owner: 'x' });
        return Promise.resolve();
      });
      expect(await get('a')).to.include({ id: 'a' });
    });

    it('keeps at most a thousand negative entries, which evict nothing', async () => {
      const { rows, readsOf, load } = store();
      rows.set('a', { id: 'a', owner: 'x' });
      const get = createCache({ from: [ApiKeyModel], load, entriesMax: 2 });
      await get('a');
      await Promise.all(Array.from({ length: 1_001 }, (_, index) => get(`guess-${index}`)));
      await get('a');
      expect(readsOf('a')).to.equal(1);
      await get('guess-0');
      await get('guess-1000');
      expect([readsOf('guess-0'), readsOf('guess-1000')]).to.deep.equal([2, 1]);
    });

    it('evicts the least recently used entries by weight', async () => {
      const { rows, readsOf, load } = store();
      for (const id of ['a', 'b', 'c', 'much', 'too much']) {
        rows.set(id, { id, owner: 'x' });
      }
      const weightOf = ({ id }: Fact) => ({ much: 2, 'too much': 4 })[id] ?? 1;
      const get = createCache({ from: [OfferModel], load, weight: { of: weightOf, max: 3 } });
      for (const id of ['a', 'b', 'c', 'a', 'much', 'a', 'b']) {
        await get(id);
      }
      // Loading `much` evicted b and c. The second load of b then evicted `much`.
      expect(['a', 'b', 'c', 'much'].map(readsOf)).to.deep.equal([1, 2, 1, 1]);
      await get('much');
      expect(readsOf('much')).to.equal(2);
      for (const id of ['too much', 'too much', 'much']) {
        await get(id);
      }
      expect(['too much', 'much'].map(readsOf), 'too heavy, evicts nothing').to.deep.equal([2, 2]);
      // Invalidated entries no longer count towards the weight limit.
      await writeAndInvalidate([OfferModel], null, nothing);
      for (const id of ['a', 'b', 'c', 'a', 'b', 'c']) {
        await get(id);
      }
      expect(['a', 'b', 'c'].map(readsOf)).to.deep.equal([2, 3, 2]);
    });

    it('evicts the least recently used entries by number', async () => {
      const { rows, readsOf, load } = store();
      for (const id of ['a', 'b', 'c', 'd']) {
        rows.set(id, { id, owner: 'x' });
      }
      const get = createCache({ from: [OfferModel], load, entriesMax: 3 });
      for (const id of ['a', 'b', 'c', 'a', 'd', 'a', 'c', 'b']) {
        await get(id);
      }
      expect(['a', 'b', 'c', 'd'].map(readsOf)).to.deep.equal([1, 2, 1, 1]);
    });

    it('does not cache an error', async () => {
      let calls = 0;
      const get = createCache({
        from: [OfferModel],
        load(id: string) {
          calls += 1;
          return calls === 1 ? Promise.reject(new Error('away')) : Promise.resolve(id);
        },
      });
      expect(await get('a').catch(() => 'failed')).to.equal('failed');
      expect(await get('a')).to.equal('a');
    });

    it(`${isSubscribed ? 'keeps' : 'reloads'} an entry after a second`, async () => {
      const { rows, readsOf, load } = store();
      rows.set('a', { id: 'a', owner: 'x' });
      const get = createCache({ from: [OfferModel], load });
      const short = createCache({ from: [OfferModel], load, keepMs: limits.cacheDeafMs });
      await get('a');
      await short('a');
      const over = performance.now() + limits.cacheDeafMs;
      await eventually('a second is over', () => performance.now() > over);
      await get('a');
      expect(readsOf('a')).to.equal(isSubscribed ? 2 : 3);
      await short('a');
      expect(readsOf('a')).to.equal(isSubscribed ? 3 : 4);
    });
  });
}

describe('a cache invalidation', () => {
  /** Another subscriber to invalidations. It acknowledges them or stays silent. */
  let other: Redis;
  let answers: boolean;
  const received: Change[] = [];
  before(async () => {
    await connectRedis();
    await subscribeToChanges();
    other = new Redis(env.REDIS_URL);
    await other.subscribe(`${env.QUEUE_PREFIX}:changes`);
    other.on('message', (_channel, text) => {
      const change = JSON.parse(text) as Change;
      received.push(change);
      if (answers && change.phase !== 'begin') {
        void redis().publish(`${env.QUEUE_PREFIX}:process:${change.by}`, `ack ${change.id} other`);
      }
    });
  });
  after(async () => {
    other.disconnect();
    await disconnectRedis();
  });

  async function measure(subject: string, work: () => Promise<unknown> = nothing) {
    await redis().zadd(`${env.QUEUE_PREFIX}:hearers`, Date.now() + limits.hearingMs, 'other');
    const startedAt = performance.now();
    await writeAndInvalidate([OfferModel], [subject], work).catch(() => undefined);
    const phases = received.filter(({ subjects }) => subjects?.[0] === subject).map(({ phase }) => phase);
    return { ms: performance.now() - startedAt, phases };
  }

  it('completes when every subscriber has acknowledged it', async () => {
    answers = true;
    const { ms, phases } = await measure('a');
    expect(ms).to.be.below(limits.hearingMs / 2);
    expect(phases).to.deep.equal(['begin', 'end']);
  });

  it('completes when a silent subscriber counts as lost', async () => {
    answers = false;
    const { ms, phases } = await measure('b');
    expect(ms).to.be.within(limits.hearingMs, 2 * limits.hearingMs);
    expect(phases).to.deep.equal(['begin', 'end']);
  });

  it('ends after a failed write and is "unsure" after an unknown outcome', async () => {
    answers = true;
    const refused = await measure('c', () => Promise.reject(new ConflictError(asWritten('taken'))));
    expect(refused.phases).to.deep.equal(['begin', 'end']);
    const lost = await measure('d', () => Promise.reject(new UnknownOutcomeError(new Error('cut'))));
    expect(lost.phases).to.deep.equal(['begin', 'unsure']);
  });

  it('is assumed to be missed by a process that was blocked', async () => {
    const { rows, load, readsOf } = store();
    rows.set('a', { id: 'a', owner: 'x' });
    const get = createCache({ from: [ProductModel], load });
    await eventually('this process is subscribed', () => getSubscriptionEpoch() !== 0);
    await get('a');
    await get('a');
    expect(readsOf('a')).to.equal(1);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, limits.hearingMs + 10);
    await get('a');
    expect(readsOf('a')).to.equal(2);
  });
});

describe('cached collections', () => {
  it('can only be written through writeAndInvalidate', () => {
    // This function is never called. `npm run check:types` fails if one of these methods becomes
    // available.
    const forbidden = () => [
      // @ts-expect-error -- only reads
      AccountModel.updateOne,
      // @ts-expect-error -- only reads
      ApiKeyModel.create,
      // @ts-expect-error -- only reads
      ProductModel.bulkWrite,
      // @ts-expect-error -- only reads
      OfferModel.findOneAndUpdate,
      // @ts-expect-error -- only reads
      ProviderStateModel.collection,
    ];
    expect(forbidden).to.be.a('function');
    const around =
      /\bgetWritableModel\b|\.collection(<.*>)?\('(accounts|apiKeys|products|offers|providerStates)|\.model(<.*>)?\('(Account|ApiKey|Product|Offer|ProviderState)'/;
    const files = ['src', 'scripts', 'workers'].flatMap((room) =>
      readdirSync(join(projectRoot, room), { recursive: true, encoding: 'utf8' }).map(
        (name) => `${room}/${name}`,
      ),
    );
    const found = files.filter(
      (name) => name.endsWith('.ts') && around.test(readFileSync(join(projectRoot, name), 'utf8')),
    );
    expect(found.sort()).to.deep.equal([
      'src/accounts/account.model.ts',
      'src/accounts/api-key.model.ts',
      'src/database/read-only-model.ts',
      'src/products/offer.model.ts',
      'src/products/product.model.ts',
      'src/providers/provider-state.model.ts',
      'src/redis/publish-changes.ts',
    ]);
  });
});
