/**
 * A process of the service is killed with -9 exactly at a named point. Afterwards others carry on: the client that asks
 * again gets the right answer, every purchase ends, nothing is bought twice and nothing is lost. The process is held at
 * its point by the database (a command is kept waiting, or its reply never comes), by the provider, or by Redis. It is
 * there in several movements of several accounts at once, each in a lane and a transaction of its own; what becomes of
 * many in one transaction is in killed-groups.test.ts.
 */
import { expect } from 'chai';
import { eventually } from '../support/eventually.js';
import { inParallel } from '../support/purchases.js';
import { uniqueRef } from '../support/api-client.js';
import { sizes } from '../support/sizes.js';
import { untilDefinite } from './support/book.js';
import type { CalledService } from './support/called-service.js';
import {
  callIds,
  expectFirst,
  held,
  startKillWorld,
  unanswered,
  valueOf,
  type Hold,
  type KillWorld,
} from './support/kill-world.js';

const { kills: killsMax, movements, atOnce, limitMs } = sizes.killPoints;
/** How often processes are killed until one dies with all its movements at their point. */
const triesMax = 3;

/** Something that is begun in the process that dies. There is money for it twice: only the rules keep it to once. */
interface Deed {
  /** The account whose money it moves: it gets a lane of its own. */
  accountId: string;
  begin(victim: CalledService): Promise<unknown>;
  /** What its client does when no answer has come, if it has one. @param isAtPoint It was there when its process died. */
  repeat?(isAtPoint: boolean): Promise<void>;
  /** @throws Error until all of it is done, once. */
  healed(): Promise<void>;
  /** What is looked at right after the death. */
  dead?(): void;
  /** The purchase that it is about, where that stands already; else what its client calls it. */
  purchaseId?: string;
  refId?: string;
}

/** @param productCode What is bought, where something is. */
type Open = (productCode: string) => Promise<Deed>;

describe(`kill -9 of a process of the service in ${movements} movements at once, ${killsMax} times at each point`, function () {
  this.timeout(limitMs);
  let world: KillWorld;
  const deeds: Deed[] = [];
  /** Purchases of which it is not sure that they have lost their jobs. */
  const withJob = new Set<unknown>();
  /** Those whose process died before all were at their point. */
  const elsewhere = new Set<unknown>();

  before(async () => {
    world = await startKillWorld();
  });
  after(() => world.stop());

  const wallets = 'wallets';
  kills('before the first command of a posting', purchase('new'), () => held('find', wallets, { movements }));
  kills('after the wallets were read', purchase('new'), () => held('update', wallets, { movements }));
  kills('after the wallets were updated', purchase('new'), () =>
    unanswered('update', wallets, { movements }),
  );
  kills('after the purchase was inserted', purchase('new'), () =>
    unanswered('insert', 'transactions', { movements }),
  );
  kills('before the commit is sent', purchase('new'), () => unanswered('insert', 'journals', { movements }));
  kills('while the commit is on its way', purchase('either'), () =>
    held('commitTransaction', null, { movements, ms: 1_500 }),
  );
  kills('after the commit, before its reply', purchase('known'), committed('transactions'));
  kills('after the commit, before its job is added', purchase('known', { jobLost: true }), heldAtItsJob);
  kills('after the claim, before anything is sent', fulfilment({ sent: false }), () =>
    unanswered('commitTransaction', null, { movements }),
  );
  kills(
    'after the provider got the request, before it answers',
    fulfilment({ sent: true }),
    heldByTheProvider,
  );
  kills(
    'after the provider answered, before the success is posted',
    fulfilment({ sent: true }),
    heldAtItsSuccess,
  );
  kills('in the middle of a posting of credits', sellerPosting(), () =>
    unanswered('update', 'sellerCredits', { movements }),
  );
  kills('in the middle of a settlement request', settlementRequest(), () =>
    unanswered('insert', 'settlements', { movements }),
  );
  kills(
    'after the commit of a settlement request, before its reply',
    settlementRequest({ isCommitted: true }),
    committed('settlements'),
  );
  kills('in the middle of a payout', payout(), () => unanswered('update', wallets, { movements }));

  it('then others carry on: all of it is done once, nothing is lost, and the ledger is verified', async () => {
    await world.expectAllDone(
      deeds.map((deed) => () => deed.healed()),
      limitMs,
    );
  });

  function kills(point: string, open: Open, hold: (begun: Deed[]) => Hold): void {
    it(`${point}: whoever asks again gets the right answer`, async () => {
      await inParallel([...Array(killsMax).keys()], atOnce, async () => {
        let tries = 1;
        while (!(await killed(open, hold, tries === triesMax))) {
          tries += 1;
        }
      });
    });
  }

  /**
   * On a slow machine one of them may be too late for its deadline, and is refused before it gets there: of those only what
   * holds wherever a process dies is looked at. @param isLast It must get there. @returns whether all were at their point.
   */
  async function killed(open: Open, hold: (begun: Deed[]) => Hold, isLast: boolean): Promise<boolean> {
    // Of its own: that many orders are not answered says something of a provider (its circuit).
    const { productCode } = await (
      await world.healthy()
    ).must('openShop', { baseUrl: world.providerUrl, balance: 1_000 });
    const begun = await Promise.all(Array.from({ length: movements }, () => open(productCode)));
    const lanes = begun.map(({ accountId }) => accountId);
    const areAtPoint = await world.withVictim(lanes, async (victim) => {
      const areThere = await hold(begun)(victim);
      begun.forEach((deed) => void deed.begin(victim.service));
      return areThere().then(
        () => true,
        (error: unknown) => {
          if (isLast) {
            throw error;
          }
          process.stdout.write(`    not all were at their point, and others are tried: ${String(error)}\n`);
          return false;
        },
      );
    });
    if (areAtPoint) {
      begun.forEach((deed) => deed.dead?.());
    } else {
      begun.forEach(({ refId, purchaseId = '' }) => {
        elsewhere.add(refId);
        world.arrived.delete(purchaseId);
      });
    }
    await Promise.all(begun.map(async (deed) => deed.repeat?.(areAtPoint)));
    deeds.push(...begun);
    return areAtPoint;
  }

  function committed(collection: string): (begun: Deed[]) => Hold {
    return (begun) => async (victim) => {
      const areThere = await unanswered('commitTransaction', null, { movements })(victim);
      return async () => {
        await areThere();
        // On a slow machine one has sent its commit twice before another has sent its first.
        await areStored(collection, begun);
      };
    };
  }

  async function areStored(collection: string, begun: Deed[]): Promise<void> {
    await eventually(
      'all of them to be stored',
      async () => (await storedOf(collection, begun)).length === movements,
    );
  }

  /** The names of those that are stored. */
  function storedOf(collection: string, begun: Deed[]): Promise<unknown[]> {
    const refIds = begun.map(({ refId }) => refId);
    return world.stack.db.collection(collection).distinct('refId', { refId: { $in: refIds } });
  }

  /** Redis stops to answer while the commits are on their way, which must be there before their transactions are too old (2 s). */
  function heldAtItsJob(begun: Deed[]): Hold {
    return async (victim) => {
      const atCommit = await held('commitTransaction', null, { movements, ms: 600 })(victim);
      return async () => {
        await atCommit();
        victim.gate.hang();
        // On a slow machine the first is committed before the last is there, and may have its job.
        (await storedOf('transactions', begun)).forEach((each) => withJob.add(each));
        await areStored('transactions', begun);
        expect(withJob.size, 'some have lost their jobs').to.be.below(killsMax * movements);
      };
    };
  }

  /** @param answers Whether the provider answers, once it has all requests. @returns what resolves when it has them. */
  function arrivedAtTheProvider(begun: Deed[], answers: Promise<boolean>): () => Promise<unknown> {
    const arrived = new Set<string>();
    for (const { purchaseId = '' } of begun) {
      world.arrived.set(purchaseId, () => {
        world.arrived.delete(purchaseId);
        arrived.add(purchaseId);
        return answers;
      });
    }
    // On a slow machine an order may be too late to be sent, and never comes.
    return () => eventually('the provider to have all requests', () => arrived.size === begun.length, 60_000);
  }

  function heldByTheProvider(begun: Deed[]): Hold {
    return () => Promise.resolve(arrivedAtTheProvider(begun, Promise.resolve(false)));
  }

  function heldAtItsSuccess(begun: Deed[]): Hold {
    return (victim) => {
      let answer: (answers: boolean) => void = () => undefined;
      const answers = new Promise<boolean>((resolve) => {
        answer = resolve;
      });
      const areThere = arrivedAtTheProvider(begun, answers);
      return Promise.resolve(async () => {
        await areThere();
        const atSuccess = await held('update', 'transactions', { movements })(victim);
        answer(true);
        await atSuccess();
      });
    };
  }

  /** @param answer Whether the client that asks again is told of a new purchase, or of one that stands already. */
  function purchase(answer: 'new' | 'known' | 'either', { jobLost = false } = {}): Open {
    return async (productCode) => {
      const accountId = await (await world.healthy()).must('openBuyer', { balance: 2_500 });
      const asked = { accountId, productCode, refId: uniqueRef() };
      return {
        accountId,
        refId: asked.refId,
        begin: (victim) => victim.call('buyRouted', { ...asked, requestId: callIds.victim }),
        async repeat(isAtPoint) {
          const { heard, attempts } = await untilDefinite({ fleet: world.fleet, first: 0 }, (service) =>
            service.call('buyRouted', { ...asked, requestId: callIds.repeat }),
          );
          expectFirst(valueOf(heard), { isOfRepeat: valueOf(heard).madeBy === callIds.repeat, attempts });
          if (isAtPoint && answer === 'known') {
            expect(valueOf(heard).created, 'it was accepted before').to.equal(false);
          }
        },
        async healed() {
          const found = await world.stack.db.collection('transactions').find({ accountId }).toArray();
          expect(found.map((each) => [each['refId'], each['status']])).to.deep.equal([
            [asked.refId, 'SUCCESS'],
          ]);
          const isLost = jobLost && !withJob.has(asked.refId) && !elsewhere.has(asked.refId);
          expect(found[0]?.['epoch'], 'a job that was added again').to.be.at.least(isLost ? 1 : 0);
          expect(await world.walletOf(accountId)).to.include({ balance: 1_500, seq: 2 });
        },
      };
    };
  }

  function fulfilment({ sent }: { sent: boolean }): Open {
    return async (productCode) => {
      const accountId = await (await world.healthy()).must('openBuyer', { balance: 2_500 });
      const asked = { accountId, productCode, refId: uniqueRef() };
      const { id } = await (await world.healthy()).must('buyRouted', { ...asked, requestId: uniqueRef() });
      return {
        accountId,
        purchaseId: id,
        begin: (victim) => victim.call('fulfil', { purchaseId: id }),
        dead: () => expect(world.executed.has(id), 'the provider has its request').to.equal(sent),
        async healed() {
          const found = await world.stack.db.collection<{ _id: string }>('transactions').findOne({ _id: id });
          expect(found).to.include({ status: 'SUCCESS' });
          expect(await world.walletOf(accountId)).to.include({ balance: 1_500, seq: 2 });
          const orders = await world.stack.db.collection('attempts').find({ transactionId: id }).toArray();
          expect(orders.map(({ status }) => String(status))).to.deep.equal(['OK']);
        },
      };
    };
  }

  /** A seller of its own, who has sold something for 1,000: 980 are to come. */
  async function newSale(productCode: string): Promise<string> {
    const service = await world.healthy();
    const [accountId, sellerId] = await Promise.all([
      service.must('openBuyer', { balance: 1_000 }),
      service.must('openSeller', undefined),
    ]);
    const asked = { accountId, productCode, refId: uniqueRef(), requestId: uniqueRef() };
    const { id } = await service.must('buyRouted', asked);
    await service.must('conclude', { purchaseId: id, sellerId, as: 'success' });
    return sellerId;
  }

  function sellerPosting(): Open {
    return async (productCode) => {
      const sellerId = await newSale(productCode);
      return {
        accountId: sellerId,
        begin: (victim) => victim.call('postCredits', { sellerId }),
        async healed() {
          expect(await world.walletOf(sellerId)).to.include({ balance: 980, seq: 1 });
        },
      };
    };
  }

  function settlementRequest({ isCommitted = false } = {}): Open {
    return async (productCode) => {
      const sellerId = await newSale(productCode);
      if (isCommitted) {
        // Its own posting is then the only one that the victim commits.
        await (await world.healthy()).must('postCredits', { sellerId });
      }
      const asked = { sellerId, amount: 400, refId: uniqueRef(), mark: uniqueRef() };
      return {
        accountId: sellerId,
        refId: asked.refId,
        begin: (victim) => victim.call('settle', asked),
        async repeat(isAtPoint) {
          const begunMs = Date.now();
          const { heard, attempts } = await untilDefinite({ fleet: world.fleet, first: 0 }, (service) =>
            service.call('settle', asked),
          );
          // An id begins with when it was made.
          const isOfRepeat = Number.parseInt(valueOf(heard).id.slice(0, 12), 16) >= begunMs;
          expectFirst(valueOf(heard), { isOfRepeat, attempts });
          if (isAtPoint && isCommitted) {
            expect(valueOf(heard).created, 'it was made before').to.equal(false);
          }
        },
        healed: () => expectPaidOut(sellerId, 1),
      };
    };
  }

  /** Of two settlements: what is paid out twice would be paid with what is held for the other. */
  function payout(): Open {
    return async (productCode) => {
      const sellerId = await newSale(productCode);
      const service = await world.healthy();
      // To one bank account: another would wait for the operator.
      const mark = uniqueRef();
      const settle = async () => service.must('settle', { sellerId, amount: 400, refId: uniqueRef(), mark });
      const [{ id }] = [await settle(), await settle()];
      const ask = { settlementId: id, as: 'paid-out' as const };
      return {
        accountId: sellerId,
        begin: (victim) => victim.call('finish', ask),
        async repeat() {
          // Whoever looks meanwhile: it is another's for as long as that one may still be at it.
          await Promise.all([service.call('finish', ask), service.call('finish', ask)]);
        },
        healed: () => expectPaidOut(sellerId, 2),
      };
    };
  }

  /** @param count Its settlements. */
  async function expectPaidOut(accountId: string, count: number): Promise<void> {
    const found = await world.stack.db.collection('settlements').find({ accountId }).toArray();
    expect(found.map(({ status }) => String(status))).to.deep.equal(Array(count).fill('completed'));
    // The credit, and of each the request and the payout.
    const after = { balance: 980 - 400 * count, held: 0, seq: 1 + 2 * count };
    expect(await world.walletOf(accountId)).to.include(after);
  }
});
