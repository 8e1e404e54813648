/**
 * A process is killed with -9 at a named point, in several movements of several accounts. Each has
 * its own lane and transaction. A repeated call gets the right answer, every purchase ends, and
 * nothing is bought twice or lost. The database, the provider or Redis holds the process at its
 * point. killed-groups.test.ts covers many movements in one transaction.
 */
import { expect } from 'chai';
import { eventually } from '../support/eventually.js';
import { inParallel } from '../support/purchases.js';
import { uniqueRef } from '../support/api-client.js';
import { sizes } from '../support/sizes.js';
import { callUntilDefinite } from './support/book.js';
import type { CalledService } from './support/called-service.js';
import {
  callIds,
  expectSingleCreator,
  holdBefore,
  startKillWorld,
  dropReply,
  valueOf,
  type Hold,
  type KillWorld,
} from './support/kill-world.js';

const { kills: killsMax, movements, atOnce, limitMs } = sizes.killPoints;
/** Attempts to kill a process with all its movements at the point. */
const triesMax = 3;

/**
 * A movement that starts in the killed process. The balance covers it twice, so only the rules
 * limit it to once.
 */
interface Deed {
  /** The account whose money moves. It gets its own lane. */
  accountId: string;
  begin(victim: CalledService): Promise<unknown>;
  /**
   * Repeats the call, as a client without an answer does.
   * @param isAtPoint The movement was at its point when the process died.
   */
  repeat?(isAtPoint: boolean): Promise<void>;
  /** @throws Error until everything is done, once. */
  healed(): Promise<void>;
  /** Checks the state directly after the kill. */
  dead?(): void;
  /** The purchase, if it exists already. Otherwise the client's refId identifies it. */
  purchaseId?: string;
  refId?: string;
}

/** @param productCode The product to buy, if the movement is a purchase. */
type Open = (productCode: string) => Promise<Deed>;

describe(`kill -9 in ${movements} concurrent movements, ${killsMax} times at each point`, function () {
  this.timeout(limitMs);
  let world: KillWorld;
  const deeds: Deed[] = [];
  /** ref_ids of purchases that may have kept their job. */
  const withJob = new Set<unknown>();
  /** ref_ids of movements whose process died before all were at their point. */
  const elsewhere = new Set<unknown>();

  before(async () => {
    world = await startKillWorld();
  });
  after(() => world.stop());

  const wallets = 'wallets';
  kills('before the first command of a posting', purchase('new'), () =>
    holdBefore('find', wallets, { movements }),
  );
  kills('after the wallets were read', purchase('new'), () => holdBefore('update', wallets, { movements }));
  kills('after the wallets were updated', purchase('new'), () => dropReply('update', wallets, { movements }));
  kills('after the purchase was inserted', purchase('new'), () =>
    dropReply('insert', 'transactions', { movements }),
  );
  kills('before the commit is sent', purchase('new'), () => dropReply('insert', 'journals', { movements }));
  kills('while the commit is on its way', purchase('either'), () =>
    holdBefore('commitTransaction', null, { movements, ms: 1_500 }),
  );
  kills('after the commit, before its reply', purchase('known'), committed('transactions'));
  kills('after the commit, before its job is added', purchase('known', { jobLost: true }), heldAtItsJob);
  kills('after the claim, before anything is sent', fulfilment({ sent: false }), () =>
    dropReply('commitTransaction', null, { movements }),
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
    dropReply('update', 'sellerCredits', { movements }),
  );
  kills('in the middle of a settlement request', settlementRequest(), () =>
    dropReply('insert', 'settlements', { movements }),
  );
  kills(
    'after the commit of a settlement request, before its reply',
    settlementRequest({ isCommitted: true }),
    committed('settlements'),
  );
  kills('in the middle of a payout', payout(), () => dropReply('update', wallets, { movements }));

  it('after all kills everything is done once, and the ledger is verified', async () => {
    await world.expectAllDone(
      deeds.map((deed) => () => deed.healed()),
      limitMs,
    );
  });

  function kills(point: string, open: Open, hold: (begun: Deed[]) => Hold): void {
    it(`${point}: a repeated call gets the right answer`, async () => {
      await inParallel([...Array(killsMax).keys()], atOnce, async () => {
        let tries = 1;
        while (!(await killed(open, hold, tries === triesMax))) {
          tries += 1;
        }
      });
    });
  }

  /**
   * Kills a process with movements at their point. On a slow machine one may miss its deadline;
   * then only the general invariants are checked.
   * @param isLast The movements must reach the point.
   * @returns whether all did.
   */
  async function killed(open: Open, hold: (begun: Deed[]) => Hold, isLast: boolean): Promise<boolean> {
    // Separate sellers, because so many unanswered orders open a provider's circuit.
    const { productCode } = await (
      await world.healthy()
    ).callOrThrow('openShop', { baseUrl: world.providerUrl, balance: 1_000 });
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
          process.stdout.write(`    not all movements reached the point; trying others: ${String(error)}\n`);
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
      const areThere = await dropReply('commitTransaction', null, { movements })(victim);
      return async () => {
        await areThere();
        // On a slow machine one movement may send its commit twice before another sends its first.
        await areStored(collection, begun);
      };
    };
  }

  async function areStored(collection: string, begun: Deed[]): Promise<void> {
    await eventually(
      'all movements are stored',
      async () => (await storedOf(collection, begun)).length === movements,
    );
  }

  /** Returns the ref_ids that are stored. */
  function storedOf(collection: string, begun: Deed[]): Promise<unknown[]> {
    const refIds = begun.map(({ refId }) => refId);
    return world.stack.db.collection(collection).distinct('refId', { refId: { $in: refIds } });
  }

  /**
   * Redis stops answering while the commits are in flight. They must arrive within 2 s, before
   * their transactions expire.
   */
  function heldAtItsJob(begun: Deed[]): Hold {
    return async (victim) => {
      const atCommit = await holdBefore('commitTransaction', null, { movements, ms: 600 })(victim);
      return async () => {
        await atCommit();
        victim.gate.hang();
        // On a slow machine the first purchase may commit early and get its job.
        (await storedOf('transactions', begun)).forEach((each) => withJob.add(each));
        await areStored('transactions', begun);
        expect(withJob.size, 'purchases that kept their job').to.be.below(killsMax * movements);
      };
    };
  }

  /**
   * @param answers Whether the provider answers once it has all requests.
   * @returns a function that waits for all requests.
   */
  function arrivedAtTheProvider(begun: Deed[], answers: Promise<boolean>): () => Promise<unknown> {
    const arrived = new Set<string>();
    for (const { purchaseId = '' } of begun) {
      world.arrived.set(purchaseId, () => {
        world.arrived.delete(purchaseId);
        arrived.add(purchaseId);
        return answers;
      });
    }
    // On a slow machine an order may miss its deadline and never arrive.
    return () => eventually('the provider has all requests', () => arrived.size === begun.length, 60_000);
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
        const atSuccess = await holdBefore('update', 'transactions', { movements })(victim);
        answer(true);
        await atSuccess();
      });
    };
  }

  /** @param answer Whether the repeated call reports a new purchase or an existing one. */
  function purchase(answer: 'new' | 'known' | 'either', { jobLost = false } = {}): Open {
    return async (productCode) => {
      const accountId = await (await world.healthy()).callOrThrow('openBuyer', { balance: 2_500 });
      const asked = { accountId, productCode, refId: uniqueRef() };
      return {
        accountId,
        refId: asked.refId,
        begin: (victim) => victim.call('buyRouted', { ...asked, requestId: callIds.victim }),
        async repeat(isAtPoint) {
          const { heard, attempts } = await callUntilDefinite({ fleet: world.fleet, first: 0 }, (service) =>
            service.call('buyRouted', { ...asked, requestId: callIds.repeat }),
          );
          expectSingleCreator(valueOf(heard), {
            isOfRepeat: valueOf(heard).madeBy === callIds.repeat,
            attempts,
          });
          if (isAtPoint && answer === 'known') {
            expect(valueOf(heard).created, 'created by the repeat').to.equal(false);
          }
        },
        async healed() {
          const found = await world.stack.db.collection('transactions').find({ accountId }).toArray();
          expect(found.map((each) => [each['refId'], each['status']])).to.deep.equal([
            [asked.refId, 'SUCCESS'],
          ]);
          const isLost = jobLost && !withJob.has(asked.refId) && !elsewhere.has(asked.refId);
          expect(found[0]?.['epoch'], 'times that the job was added again').to.be.at.least(isLost ? 1 : 0);
          expect(await world.walletOf(accountId)).to.include({ balance: 1_500, seq: 2 });
        },
      };
    };
  }

  function fulfilment({ sent }: { sent: boolean }): Open {
    return async (productCode) => {
      const accountId = await (await world.healthy()).callOrThrow('openBuyer', { balance: 2_500 });
      const asked = { accountId, productCode, refId: uniqueRef() };
      const { id } = await (
        await world.healthy()
      ).callOrThrow('buyRouted', { ...asked, requestId: uniqueRef() });
      return {
        accountId,
        purchaseId: id,
        begin: (victim) => victim.call('fulfil', { purchaseId: id }),
        dead: () => expect(world.executed.has(id), 'executed by the provider').to.equal(sent),
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

  /** Opens a seller that has sold something for 1,000 rupiah. Its credit is 980. */
  async function newSale(productCode: string): Promise<string> {
    const service = await world.healthy();
    const [accountId, sellerId] = await Promise.all([
      service.callOrThrow('openBuyer', { balance: 1_000 }),
      service.callOrThrow('openSeller', undefined),
    ]);
    const asked = { accountId, productCode, refId: uniqueRef(), requestId: uniqueRef() };
    const { id } = await service.callOrThrow('buyRouted', asked);
    await service.callOrThrow('conclude', { purchaseId: id, sellerId, as: 'success' });
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
        // Then the settlement is the only posting that the victim commits.
        await (await world.healthy()).callOrThrow('postCredits', { sellerId });
      }
      const asked = { sellerId, amount: 400, refId: uniqueRef(), mark: uniqueRef() };
      return {
        accountId: sellerId,
        refId: asked.refId,
        begin: (victim) => victim.call('settle', asked),
        async repeat(isAtPoint) {
          const begunMs = Date.now();
          const { heard, attempts } = await callUntilDefinite({ fleet: world.fleet, first: 0 }, (service) =>
            service.call('settle', asked),
          );
          // An id starts with its time of creation.
          const isOfRepeat = Number.parseInt(valueOf(heard).id.slice(0, 12), 16) >= begunMs;
          expectSingleCreator(valueOf(heard), { isOfRepeat, attempts });
          if (isAtPoint && isCommitted) {
            expect(valueOf(heard).created, 'created by the repeat').to.equal(false);
          }
        },
        healed: () => expectPaidOut(sellerId, 1),
      };
    };
  }

  /** Two settlements: a double payout would take the amount that is held for the other. */
  function payout(): Open {
    return async (productCode) => {
      const sellerId = await newSale(productCode);
      const service = await world.healthy();
      // The same bank account, because another one would wait for the operator.
      const mark = uniqueRef();
      const settle = async () =>
        service.callOrThrow('settle', { sellerId, amount: 400, refId: uniqueRef(), mark });
      const [{ id }] = [await settle(), await settle()];
      const ask = { settlementId: id, as: 'paid-out' as const };
      return {
        accountId: sellerId,
        begin: (victim) => victim.call('finish', ask),
        async repeat() {
          // Concurrent calls must leave the payout alone while the dead process may still be
          // running it.
          await Promise.all([service.call('finish', ask), service.call('finish', ask)]);
        },
        healed: () => expectPaidOut(sellerId, 2),
      };
    };
  }

  /** @param count The number of settlements. */
  async function expectPaidOut(accountId: string, count: number): Promise<void> {
    const found = await world.stack.db.collection('settlements').find({ accountId }).toArray();
    expect(found.map(({ status }) => String(status))).to.deep.equal(Array(count).fill('completed'));
    // One posting for the credit, and two for each settlement: request and payout.
    const after = { balance: 980 - 400 * count, held: 0, seq: 1 + 2 * count };
    expect(await world.walletOf(accountId)).to.include(after);
  }
});
