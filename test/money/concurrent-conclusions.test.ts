/**
 * Two processes move one purchase concurrently. Each has read it before the other writes. Money
 * moves once, and the later process gets a stale error.
 *
 * Within one process, the lane serializes such postings. Across processes, only the posting's
 * expectations and the unique index on journals prevent the second one.
 */
import { expect } from 'chai';
import { JournalModel } from '../../src/money/journals/journal.model.js';
import { buildMovementLines } from '../../src/money/journals/new-journal.js';
import { post } from '../../src/money/posting/post.js';
import type { Posting } from '../../src/money/posting/posting.js';
import { getWallet } from '../../src/money/wallets/wallet-balance.js';
import { claimOrder, type ClaimedOrder, rejectOrder } from '../../src/purchases/fulfil/order-transitions.js';
import { concludeFailure, concludeSuccess } from '../../src/purchases/fulfil/conclude-purchase.js';
import { buildOrder } from '../../src/purchases/fulfil/orders.js';
import { OrderModel } from '../../src/purchases/order.model.js';
import { PurchaseModel } from '../../src/purchases/purchase.model.js';
import { StalePurchaseError } from '../../src/purchases/states.js';
import { newId } from '../../src/shared/ids.js';
import { openShop } from '../jobs/sold-purchases.js';
import { eventually } from '../support/eventually.js';
import { startFault } from '../support/mongo-faults.js';
import { useDatabase } from '../webhooks/support/database.js';
import { startCalledService, type CalledService, type CallOutcome } from './support/called-service.js';
import { namespaceOf } from './support/debits.js';

type End = 'success' | 'failed';

const balance = 10_000;
const price = 1_000;
const sellerUrl = 'http://127.0.0.1:9';
const provider = { kind: 'h2h', baseUrl: sellerUrl, username: 'us' } as const;
const refused = { code: '01', message: 'refused' };
/**
 * The collection of the posting's first write. When a process reaches this write, it has already
 * read the purchase.
 */
const firstWriteOf: Record<End, string> = { success: 'transactions', failed: 'wallets' };

describe('two processes that move one purchase concurrently', () => {
  useDatabase();
  let other: CalledService;
  let otherUri: URL;

  before(async () => {
    otherUri = new URL(process.env['MONGODB_URI'] ?? '');
    otherUri.searchParams.set('appName', 'other');
    other = await startCalledService({ ...process.env, MONGODB_URI: otherUri.href });
  });
  after(() => other.kill());

  const ends: [End, End][] = [
    ['success', 'success'],
    ['failed', 'failed'],
    ['success', 'failed'],
  ];
  for (const [first, second] of ends) {
    it(`one conclusion of ${first} and ${second} succeeds, and the other is stale`, async () => {
      const sent = await sentPurchase();
      const { _id: purchaseId, accountId } = sent.purchase;
      const { sellerId } = sent.order;
      const results = await runBothAtOnce(
        { collection: firstWriteOf[first], work: () => concludeHere(sent, first) },
        {
          collection: firstWriteOf[second],
          work: async () => outcomeOf(await other.call('conclude', { purchaseId, sellerId, as: second })),
        },
      );
      expect([...results].sort()).to.deep.equal(['done', 'stale']);
      const isSold = (results[0] === 'done' ? first : second) === 'success';
      expect(await statusOf(purchaseId)).to.equal(isSold ? 'SUCCESS' : 'FAILED');
      expect(await journalsOf(purchaseId)).to.deep.equal(['purchase', isSold ? 'success' : 'refund']);
      // `seq` counts the deposit, the debit and, after a failure, the refund.
      const wallet = isSold ? { balance: balance - price, seq: 2 } : { balance, seq: 3 };
      expect(await getWallet(accountId)).to.include(wallet);
    });
  }

  it('a process that saw no further seller does not refund an order sent by the other', async () => {
    const { purchase, order } = await sentPurchase();
    const { _id: purchaseId, accountId } = purchase;
    await rejectOrder(order, refused);
    const fault = await startFault(buildPause('wallets'));
    const givingBack = concludeHere({ purchase, order: null }, 'failed');
    await eventually('the refund is at its write', async () => (await fault.count()) === 1);
    await fault.end();
    await other.callOrThrow('claim', { purchaseId, sellerId: order.sellerId });
    expect(await givingBack).to.equal('stale');
    expect(await statusOf(purchaseId)).to.equal('PROCESSING');
    expect(await OrderModel.countDocuments({ transactionId: purchaseId, open: true })).to.equal(1);
    expect(await journalsOf(purchaseId)).to.deep.equal(['purchase']);
    expect(await getWallet(accountId)).to.include({ balance: balance - price, seq: 2 });
  });

  it('one of two postings of a kind and subject is posted, the other is a duplicate', async () => {
    // The posting has no wallet, so the two processes conflict only on the journal.
    const posting: Posting = {
      accountId: newId(),
      kind: 'success',
      subjectId: newId(),
      lines: buildMovementLines(price, { from: 'platform:suspense', to: 'platform:revenue' }),
    };
    const outcomes = await runBothAtOnce(
      { collection: 'journals', work: async () => (await post(posting)).outcome },
      {
        collection: 'journals',
        work: async () => {
          const answer = await other.call('post', posting);
          return answer.ok ? answer.value.outcome : answer.refusal;
        },
      },
    );
    expect([...outcomes].sort()).to.deep.equal(['duplicate', 'posted']);
    expect(await journalsOf(posting.subjectId)).to.deep.equal(['success']);
  });

  /** Creates a purchase whose order was sent to its provider. Returns what both processes read. */
  async function sentPurchase(): Promise<ClaimedOrder> {
    const shop = await openShop(sellerUrl, { balance });
    const accepted = await shop.buy();
    const { _id: transactionId, accountId } = accepted;
    return claimOrder(
      accepted,
      buildOrder({
        accountId,
        transactionId,
        n: 1,
        sellerId: shop.seller._id,
        provider,
        offerPrice: price,
        commissionRate: 0.02,
      }),
    );
  }

  /** Runs both postings. Each is held at its first write until the other has reached its own. */
  async function runBothAtOnce<T>(here: HeldPosting<T>, there: HeldPosting<T>): Promise<[T, T]> {
    const faults = await Promise.all([
      startFault(buildPause(here.collection)),
      startFault({ ...buildPause(there.collection), uri: otherUri.href }),
    ]);
    const working = Promise.all([here.work(), there.work()]);
    await eventually('both are at their write', async () =>
      (await Promise.all(faults.map((each) => each.count()))).every((count) => count === 1),
    );
    await Promise.all(faults.map((each) => each.end()));
    return working;
  }

  function buildPause(collection: string) {
    const commands = ['update', 'insert'];
    return { kind: 'pause', commands, namespace: namespaceOf(collection), ms: 1_000 } as const;
  }

  function concludeHere(
    { purchase, order }: Pick<ClaimedOrder, 'purchase'> & { order: ClaimedOrder['order'] | null },
    end: End,
  ): Promise<string> {
    const work =
      end === 'success' && order
        ? concludeSuccess(purchase, order, { code: '00', message: 'success', serialNumber: newId() })
        : concludeFailure(purchase, order, refused);
    return work.then(
      () => 'done',
      (error: unknown) => (error instanceof StalePurchaseError ? 'stale' : String(error)),
    );
  }

  async function statusOf(purchaseId: string): Promise<string | undefined> {
    return (await PurchaseModel.findById(purchaseId).lean())?.status;
  }

  async function journalsOf(subjectId: string): Promise<string[]> {
    const found = await JournalModel.find({ subjectId }).lean();
    return found.map(({ kind }) => kind).sort();
  }
});

interface HeldPosting<T> {
  /** The collection of the posting's first write. */
  collection: string;
  work: () => Promise<T>;
}

function outcomeOf(answer: CallOutcome<unknown>): string {
  return answer.ok ? 'done' : answer.refusal;
}
