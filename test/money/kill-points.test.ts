/**
 * A process is killed with SIGKILL at a named point while several accounts move money. Each account
 * has its own lane and transaction. A repeated call gets the right response, every purchase ends,
 * and nothing is bought twice or lost.
 *
 * The test holds the process at its point through the database, the provider or Redis.
 * killed-groups.test.ts covers many movements in one transaction.
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
/** Maximum number of attempts to kill a process while all its movements are at the point. */
const triesMax = 3;

/**
 * A movement of money that starts in the killed process. The balance would cover the movement
 * twice, so only the service's rules prevent a second one.
 */
interface Movement {
  /** The account whose money moves. It has its own lane. */
  accountId: string;
  begin(victim: CalledService): Promise<unknown>;
  /**
   * Repeats the call, as a client does that got no response.
   * @param isAtPoint True if the movement was at its point when the process died.
   */
  repeat?(isAtPoint: boolean): Promise<void>;
  /**
   * Checks that the movement is complete and was executed once.
   * @throws Error until it is.
   */
  healed(): Promise<void>;
  /** Checks the state immediately after the kill. */
  dead?(): void;
  /**
   * The id of the purchase, if the purchase exists before the kill. Otherwise the client's refId
   * identifies it.
   */
  purchaseId?: string;
  refId?: string;
}

/** @param productCode The product to buy, if the movement is a purchase. */
type Open = (productCode: string) => Promise<Movement>;

describe(`kill -9 in ${movements} concurrent movements, ${killsMax} times at each point`, function () {
  this.timeout(limitMs);
  let world: KillWorld;
  const deeds: Movement[] = [];
  /** The ref_ids of purchases whose job may have survived. */
  const withJob = new Set<unknown>();
  /** The ref_ids of movements whose process died before every movement was at its point. */
  const elsewhere = new Set<unknown>();

  before(async () => {
    world = await startKillWorld();
  });
  after(() => world.stop());

  const wallets = 'wallets';
  itSurvivesKill('before the first command of a posting', purchase('new'), () =>
    holdBefore('find', wallets, { movements }),
  );
  itSurvivesKill('after the wallets were read', purchase('new'), () =>
    holdBefore('update', wallets, { movements }),
  );
  itSurvivesKill('after the wallets were updated', purchase('new'), () =>
    dropReply('update', wallets, { movements }),
  );
  itSurvivesKill('after the purchase was inserted', purchase('new'), () =>
    dropReply('insert', 'transactions', { movements }),
  );
  itSurvivesKill('before the commit is sent', purchase('new'), () =>
    dropReply('insert', 'journals', { movements }),
  );
  itSurvivesKill('while the commit is on its way', purchase('either'), () =>
    holdBefore('commitTransaction', null, { movements, ms: 1_500 }),
  );
  itSurvivesKill('after the commit, before its reply', purchase('known'), holdAfterCommit('transactions'));
  itSurvivesKill(
    'after the commit, before its job is added',
    purchase('known', { jobLost: true }),
    holdAtJob,
  );
  itSurvivesKill('after the claim, before anything is sent', fulfilment({ sent: false }), () =>
    dropReply('commitTransaction', null, { movements }),
  );
  itSurvivesKill(
    'after the provider got the request, before it answers',
    fulfilment({ sent: true }),
    holdAtProvider,
  );
  itSurvivesKill(
    'after the provider answered, before the success is posted',
    fulfilment({ sent: true }),
    holdAtSuccess,
  );
  itSurvivesKill('in the middle of a posting of credits', sellerPosting(), () =>
    dropReply('update', 'sellerCredits', { movements }),
  );
  itSurvivesKill('in the middle of a settlement request', settlementRequest(), () =>
    dropReply('insert', 'settlements', { movements }),
  );
  itSurvivesKill(
    'after the commit of a settlement request, before its reply',
    settlementRequest({ isCommitted: true }),
    holdAfterCommit('settlements'),
  );
  itSurvivesKill('in the middle of a payout', payout(), () => dropReply('update', wallets, { movements }));

  it('after all kills everything is done once, and the ledger is verified', async () => {
    await world.expectAllDone(
      deeds.map((deed) => () => deed.healed()),
      limitMs,
    );
  });

  function itSurvivesKill(point: string, open: Open, hold: (begun: Movement[]) => Hold): void {
    it(`${point}: a repeated call returns the correct result`, async () => {
      await inParallel([...Array(killsMax).keys()], atOnce, async () => {
        let tries = 1;
        while (!(await killAtPoint(open, hold, tries === triesMax))) {
          tries += 1;
        }
      });
    });
  }

  /**
   * Kills a process while its movements are at their point. On a slow machine a movement may miss
   * its deadline. Then only the general invariants are checked.
   * @param isLast True for the last attempt, in which every movement must reach the point.
   * @returns true if every movement was at its point.
   */
  async function killAtPoint(
    open: Open,
    hold: (begun: Movement[]) => Hold,
    isLast: boolean,
  ): Promise<boolean> {
    // Use a separate seller for each attempt, because the unanswered orders open the circuit of
    // their provider.
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

  function holdAfterCommit(collection: string): (begun: Movement[]) => Hold {
    return (begun) => async (victim) => {
      const areThere = await dropReply('commitTransaction', null, { movements })(victim);
      return async () => {
        await areThere();
        // On a slow machine, one movement may send its commit twice before another sends its first.
        // The number of commits is therefore not enough.
        await waitUntilStored(collection, begun);
      };
    };
  }

  async function waitUntilStored(collection: string, begun: Movement[]): Promise<void> {
    await eventually(
      'all movements are stored',
      async () => (await storedOf(collection, begun)).length === movements,
    );
  }

  /** Returns the ref_ids of the movements that are stored in the collection. */
  function storedOf(collection: string, begun: Movement[]): Promise<unknown[]> {
    const refIds = begun.map(({ refId }) => refId);
    return world.stack.db.collection(collection).distinct('refId', { refId: { $in: refIds } });
  }

  /**
   * Holds the process after its commits: Redis stops responding while they are in flight. The
   * commits must arrive within 2 s, before their transactions expire.
   */
  function holdAtJob(begun: Movement[]): Hold {
    return async (victim) => {
      const atCommit = await holdBefore('commitTransaction', null, { movements, ms: 600 })(victim);
      return async () => {
        await atCommit();
        victim.gate.hang();
        // On a slow machine the first purchase may commit before Redis stops, and get its job.
        (await storedOf('transactions', begun)).forEach((each) => withJob.add(each));
        await waitUntilStored('transactions', begun);
        expect(withJob.size, 'purchases that kept their job').to.be.below(killsMax * movements);
      };
    };
  }

  /**
   * Records the order requests that reach the provider.
   * @param answers Whether the provider responds once it has received every request.
   * @returns a function that waits for every request.
   */
  function waitForProviderCalls(begun: Movement[], answers: Promise<boolean>): () => Promise<unknown> {
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

  function holdAtProvider(begun: Movement[]): Hold {
    return () => Promise.resolve(waitForProviderCalls(begun, Promise.resolve(false)));
  }

  function holdAtSuccess(begun: Movement[]): Hold {
    return (victim) => {
      let answer: (answers: boolean) => void = () => undefined;
      const answers = new Promise<boolean>((resolve) => {
        answer = resolve;
      });
      const areThere = waitForProviderCalls(begun, answers);
      return Promise.resolve(async () => {
        await areThere();
        const atSuccess = await holdBefore('update', 'transactions', { movements })(victim);
        answer(true);
        await atSuccess();
      });
    };
  }

  /**
   * Returns a function that opens a purchase.
   * @param answer Whether the repeated call reports a new purchase or an existing one.
   */
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

  /** Creates a seller that has sold a product for 1,000 rupiah. Its credit is 980 rupiah. */
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
        // Post the credits first, so that the settlement is the only posting that the victim
        // commits.
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
          // An id begins with the time at which it was created.
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

  /**
   * Returns a function that opens two settlements and pays out one. A double payout would take the
   * amount that is held for the other settlement.
   */
  function payout(): Open {
    return async (productCode) => {
      const sellerId = await newSale(productCode);
      const service = await world.healthy();
      // Both settlements use the same bank account, because a second bank account would need an
      // operator's approval.
      const mark = uniqueRef();
      const settle = async () =>
        service.callOrThrow('settle', { sellerId, amount: 400, refId: uniqueRef(), mark });
      const [{ id }] = [await settle(), await settle()];
      const ask = { settlementId: id, as: 'paid-out' as const };
      return {
        accountId: sellerId,
        begin: (victim) => victim.call('finish', ask),
        async repeat() {
          // While the dead process may still be running the payout, concurrent calls must not touch
          // it.
          await Promise.all([service.call('finish', ask), service.call('finish', ask)]);
        },
        healed: () => expectPaidOut(sellerId, 2),
      };
    };
  }

  /**
   * Expects that the settlements are paid out once each.
   * @param count The number of settlements.
   */
  async function expectPaidOut(accountId: string, count: number): Promise<void> {
    const found = await world.stack.db.collection('settlements').find({ accountId }).toArray();
    expect(found.map(({ status }) => String(status))).to.deep.equal(Array(count).fill('completed'));
    // `seq` counts one posting for the credit, and two for each settlement: the request and the
    // payout.
    const after = { balance: 980 - 400 * count, held: 0, seq: 1 + 2 * count };
    expect(await world.walletOf(accountId)).to.include(after);
  }
});
