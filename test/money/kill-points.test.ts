/**
 * A process of the service is killed with -9 exactly at a named point. Afterwards others carry on: the client that asks
 * again gets the right answer, every purchase ends, nothing is bought twice and nothing is lost. The process is held at
 * its point by the database (a command is kept waiting, or its reply never comes), by the provider, or by Redis.
 */
import { expect } from 'chai';
import { eventually } from '../support/eventually.js';
import { expectLedgerToHold, expectLedgerVerified } from '../support/ledger.js';
import { startFault, type Fault, type RunningFault } from '../support/mongo-faults.js';
import { startPrivateMongo, startTcpGate, type Outage } from '../support/outage.js';
import { everyPurchaseFinal, inParallel } from '../support/purchases.js';
import { uniqueRef } from '../support/api-client.js';
import { sizes } from '../support/sizes.js';
import { startStack, type Stack } from '../support/stack.js';
import { sendJson, startPlayServer, type PlayServer } from '../providers/play-server.js';
import { untilDefinite } from './support/book.js';
import { startCalledService, type CalledService, type Heard } from './support/called-service.js';
import { startFleet, type RunningFleet } from './support/fleet.js';

const { repeats, atOnce, limitMs } = sizes.killPoints;
/** For longer than its process lives. What was kept waiting for so long meets a transaction that is over. */
const heldMs = 10_000;

/** Something that is begun in the process that dies. */
interface Deed {
  begin(victim: CalledService): Promise<unknown>;
  /** What its client does when no answer has come, if it has one. */
  repeat?(): Promise<void>;
  /** @throws Error until all of it is done, once. */
  healed(): Promise<void>;
  /** What is looked at right after the death. */
  dead?(): void;
  /** The purchase that it is about, where that stands already; else what its client calls it. */
  purchaseId?: string;
  refId?: string;
}

/** Where a process is held. @returns what resolves when it has got there. */
type Hold = (at: { deed: Deed; uri: string; gate: Outage }) => Promise<() => Promise<unknown>>;

describe(`kill -9 of a process of the service, ${repeats} times at each point`, function () {
  this.timeout(limitMs);
  let mongo: Outage;
  let stack: Stack;
  let fleet: RunningFleet;
  let provider: PlayServer;
  let shop: { sellerId: string; productCode: string };
  const deeds: Deed[] = [];
  /** What the provider has executed: the references of each purchase. */
  const executed = new Map<string, Set<string>>();
  /** Called when the request for a purchase has come, before it is answered; `false`: it is not answered. */
  const arrived = new Map<string, () => Promise<boolean>>();

  before(async () => {
    // As on MongoDB, the locks of a killed process outlive it.
    mongo = await startPrivateMongo('--no-fsync', '--lock-lifetime', '2');
    stack = await startStack({ web: false, env: { MONGODB_URI: mongo.url, SETTLEMENT_FEE: '10' } });
    provider = await startPlayServer((call, response) => {
      const ref = call.url.searchParams.get('ref_id') ?? '';
      if (ref === '') {
        // Its price list, and our balance.
        sendJson(response, 404, {});
        return;
      }
      const purchaseId = ref.replace(/-\d+$/, '');
      const hook = arrived.get(purchaseId) ?? (() => Promise.resolve(true));
      executed.set(purchaseId, (executed.get(purchaseId) ?? new Set()).add(ref));
      void hook().then((answers) => {
        if (answers) {
          sendJson(response, 200, { status: '00', ref_id: ref, sn: ref, transaction_status: 'success' });
        }
      });
    });
    fleet = await startFleet(1, stack.env);
    shop = await (await healthy()).must('openShop', { baseUrl: provider.url, balance: 50_000 });
  });
  after(async () => {
    await fleet.stop();
    await stack.stop();
    await provider.stop();
    await mongo.stop();
  });

  const wallets = 'wallets';
  kills('before the first command of a posting', purchase('new'), held('find', wallets));
  kills('after the wallets were read', purchase('new'), held('update', wallets));
  kills('after the wallets were updated', purchase('new'), unanswered('update', wallets));
  kills('after the purchase was inserted', purchase('new'), unanswered('insert', 'transactions'));
  kills('before the commit is sent', purchase('new'), unanswered('insert', 'journals'));
  kills('while the commit is on its way', purchase('either'), held('commitTransaction', null, 1_500));
  kills('after the commit, before its reply', purchase('known'), unanswered('commitTransaction', null));
  kills('after the commit, before its job is added', purchase('known', { jobLost: true }), heldAtItsJob());
  kills(
    'after the claim, before anything is sent',
    fulfilment({ sent: false }),
    unanswered('commitTransaction', null),
  );
  kills(
    'after the provider got the request, before it answers',
    fulfilment({ sent: true }),
    heldByTheProvider(),
  );
  kills(
    'after the provider answered, before the success is posted',
    fulfilment({ sent: true }),
    heldAtItsSuccess(),
  );
  kills('in the middle of a posting of credits', sellerPosting(), unanswered('update', 'sellerCredits'));
  kills('in the middle of a settlement request', settlementRequest(), unanswered('insert', 'settlements'));
  kills('in the middle of a payout', payout(), unanswered('update', wallets));

  it('then others carry on: all of it is done once, nothing is lost, and the ledger is verified', async () => {
    await stack.startWorker('fulfilment', 'follow-up', 'sellers', 'settlements');
    await everyPurchaseFinal(stack, limitMs / 2);
    for (const deed of deeds) {
      await eventually('it is done', () => deed.healed().then(() => true), 60_000);
    }
    const sold = await stack.db
      .collection<{ _id: string }>('transactions')
      .find({ status: 'SUCCESS' })
      .toArray();
    for (const [purchaseId, refs] of executed) {
      expect(refs.size, `executions of ${purchaseId}`).to.equal(1);
      expect(
        sold.some(({ _id }) => _id === purchaseId),
        `${purchaseId} was sold`,
      ).to.equal(true);
    }
    await expectLedgerToHold(stack);
    await expectLedgerVerified(stack);
  });

  function kills(point: string, open: () => Promise<Deed>, hold: Hold): void {
    it(`${point}: whoever asks again gets the right answer`, async () => {
      const all = Array.from({ length: repeats }, (_, index) => index);
      await inParallel(all, atOnce, async () => {
        const deed = await open();
        const gate = await startTcpGate(stack.env['REDIS_URL'] ?? '');
        const uri = new URL(stack.env['MONGODB_URI'] ?? '');
        uri.searchParams.set('appName', uniqueRef('victim'));
        const victim = await startCalledService({ ...stack.env, MONGODB_URI: uri.href, REDIS_URL: gate.url });
        try {
          const isThere = await hold({ deed, uri: uri.href, gate });
          void deed.begin(victim);
          await isThere();
        } finally {
          await victim.kill();
          await gate.stop();
        }
        deed.dead?.();
        await deed.repeat?.();
        deeds.push(deed);
      });
    });
  }

  function healthy(): Promise<CalledService> {
    return fleet.process(0);
  }

  /** The process sends the command, and is kept waiting before it takes effect. */
  function held(command: string, collection: string | null, ms = heldMs): Hold {
    return ({ uri }) =>
      atCommand({ kind: 'pause', commands: [command], ms, uri, ...namespaceOf(collection) });
  }

  /** The command takes effect, and the process never hears of it. */
  function unanswered(command: string, collection: string | null): Hold {
    return ({ uri }) => atCommand({ kind: 'silence', commands: [command], uri, ...namespaceOf(collection) });
  }

  function namespaceOf(collection: string | null): Pick<Fault, 'namespace'> {
    return collection === null ? {} : { namespace: `${stack.db.databaseName}.${collection}` };
  }

  async function atCommand(fault: Fault): Promise<() => Promise<void>> {
    const running = await startFault(fault);
    return () => isMet(running);
  }

  async function isMet(running: RunningFault): Promise<void> {
    await eventually('the process to be at its point', async () => (await running.count()) > 0);
    await running.end();
  }

  /** Redis stops to answer while the commit is on its way. */
  function heldAtItsJob(): Hold {
    return async ({ deed: { refId }, uri, gate }) => {
      const atCommit = await atCommand({ kind: 'pause', commands: ['commitTransaction'], ms: 300, uri });
      return async () => {
        await atCommit();
        gate.hang();
        await eventually('the purchase', () => stack.db.collection('transactions').findOne({ refId }));
      };
    };
  }

  function heldByTheProvider(): Hold {
    return ({ deed }) => {
      const came = new Promise<void>((resolve) => {
        arrived.set(deed.purchaseId ?? '', () => {
          arrived.delete(deed.purchaseId ?? '');
          resolve();
          return Promise.resolve(false);
        });
      });
      return Promise.resolve(() => came);
    };
  }

  function heldAtItsSuccess(): Hold {
    return ({ deed, uri }) => {
      const atSuccess = new Promise<() => Promise<void>>((resolve) => {
        arrived.set(deed.purchaseId ?? '', async () => {
          arrived.delete(deed.purchaseId ?? '');
          resolve(
            await atCommand({
              kind: 'pause',
              commands: ['update'],
              ms: heldMs,
              uri,
              ...namespaceOf('transactions'),
            }),
          );
          return true;
        });
      });
      return Promise.resolve(async () => (await atSuccess)());
    };
  }

  /** @param answer Whether the client that asks again is told of a new purchase, or of one that stands already. */
  function purchase(answer: 'new' | 'known' | 'either', { jobLost = false } = {}): () => Promise<Deed> {
    return async () => {
      const accountId = await (await healthy()).must('openBuyer', { balance: 1_500 });
      const asked = { accountId, productCode: shop.productCode, refId: uniqueRef() };
      return {
        refId: asked.refId,
        begin: (victim) => victim.call('buyRouted', asked),
        async repeat() {
          const begunMs = Date.now();
          const { heard, attempts } = await untilDefinite({ fleet, first: 0 }, (service) =>
            service.call('buyRouted', asked),
          );
          expectFirst(valueOf(heard), { begunMs, attempts });
          if (answer === 'known') {
            expect(valueOf(heard).created, 'it was accepted before').to.equal(false);
          }
        },
        async healed() {
          const found = await stack.db.collection('transactions').find({ accountId }).toArray();
          expect(found.map((each) => [each['refId'], each['status']])).to.deep.equal([
            [asked.refId, 'SUCCESS'],
          ]);
          expect(found[0]?.['epoch'], 'a job that was added again').to.be.at.least(jobLost ? 1 : 0);
          expect(await walletOf(accountId)).to.include({ balance: 500, seq: 2 });
        },
      };
    };
  }

  function fulfilment({ sent }: { sent: boolean }): () => Promise<Deed> {
    return async () => {
      const accountId = await (await healthy()).must('openBuyer', { balance: 1_500 });
      const asked = { accountId, productCode: shop.productCode, refId: uniqueRef() };
      const { id } = await (await healthy()).must('buyRouted', asked);
      return {
        purchaseId: id,
        begin: (victim) => victim.call('fulfil', { purchaseId: id }),
        dead: () => expect(executed.has(id), 'the provider has its request').to.equal(sent),
        async healed() {
          const found = await stack.db.collection<{ _id: string }>('transactions').findOne({ _id: id });
          expect(found).to.include({ status: 'SUCCESS' });
          expect(await walletOf(accountId)).to.include({ balance: 500, seq: 2 });
          const orders = await stack.db.collection('attempts').find({ transactionId: id }).toArray();
          expect(orders.map(({ status }) => String(status))).to.deep.equal(['OK']);
        },
      };
    };
  }

  /** A seller of its own, who has sold something for 1,000: 980 are to come. */
  async function newSale(): Promise<string> {
    const service = await healthy();
    const { buyerId, sellerId, productCode } = await service.must('openShop', {
      ...{ baseUrl: provider.url, balance: 1_000 },
    });
    const { id } = await service.must('buyRouted', { accountId: buyerId, productCode, refId: uniqueRef() });
    await service.must('conclude', { purchaseId: id, sellerId, as: 'success' });
    return sellerId;
  }

  function sellerPosting(): () => Promise<Deed> {
    return async () => {
      const sellerId = await newSale();
      return {
        begin: (victim) => victim.call('postCredits', { sellerId }),
        async healed() {
          expect(await walletOf(sellerId)).to.include({ balance: 980, seq: 1 });
        },
      };
    };
  }

  function settlementRequest(): () => Promise<Deed> {
    return async () => {
      const sellerId = await newSale();
      const asked = { sellerId, amount: 500, refId: uniqueRef(), mark: uniqueRef() };
      return {
        begin: (victim) => victim.call('settle', asked),
        async repeat() {
          const begunMs = Date.now();
          const { heard, attempts } = await untilDefinite({ fleet, first: 0 }, (service) =>
            service.call('settle', asked),
          );
          expectFirst(valueOf(heard), { begunMs, attempts });
        },
        healed: () => expectPaidOut(sellerId),
      };
    };
  }

  /**
   * Whoever made it is told so, and nobody else: an id begins with when it was made. The victim may have got past its point,
   * because it waited longer for its end than for its answer, and its commit may be heard of after its death; and a
   * repeat that was told 503 first (the locks of the dead) may itself have written what the next one finds.
   */
  function expectFirst(
    { id, created }: { id: string; created: boolean },
    { begunMs, attempts }: { begunMs: number; attempts: number },
  ): void {
    const isOfRepeat = Number.parseInt(id.slice(0, 12), 16) >= begunMs;
    if (created || attempts === 1) {
      expect(created, 'the client that asks again was the first').to.equal(isOfRepeat);
    }
  }

  function payout(): () => Promise<Deed> {
    return async () => {
      const sellerId = await newSale();
      const asked = { sellerId, amount: 500, refId: uniqueRef(), mark: uniqueRef() };
      const { id } = await (await healthy()).must('settle', asked);
      return {
        begin: (victim) => victim.call('finish', { settlementId: id, as: 'paid-out' }),
        healed: () => expectPaidOut(sellerId),
      };
    };
  }

  async function expectPaidOut(accountId: string): Promise<void> {
    const found = await stack.db.collection('settlements').find({ accountId }).toArray();
    expect(found.map(({ status }) => String(status))).to.deep.equal(['completed']);
    // The credit, the request and the payout.
    expect(await walletOf(accountId)).to.include({ balance: 480, held: 0, seq: 3 });
  }

  function walletOf(accountId: string) {
    return stack.db.collection<{ _id: string }>('wallets').findOne({ _id: accountId });
  }

  function valueOf<T>(heard: Heard<T>): T {
    if (!heard.ok) {
      throw new Error(`${heard.refusal}: ${heard.message}`);
    }
    return heard.value;
  }
});
