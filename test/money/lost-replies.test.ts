/**
 * Cases that the model test found: refusals based on writes that were later lost, and replies that
 * never arrived.
 */
import { expect } from 'chai';
import { post } from '../../src/money/posting/post.js';
import type { Posting } from '../../src/money/posting/posting.js';
import { getWallet } from '../../src/money/wallets/wallet-balance.js';
import { newId } from '../../src/shared/ids.js';
import { openShop } from '../jobs/sold-purchases.js';
import { eventually } from '../support/eventually.js';
import { startFault, withFault, type Fault } from '../support/mongo-faults.js';
import { useDatabase } from '../webhooks/support/database.js';
import { debit, failureOf, namespaceOf, openWallet } from './support/debits.js';
import { startCalledService, type CalledService } from './support/called-service.js';

describe('lost postings and replies', () => {
  useDatabase();
  let other: CalledService;
  let otherUri: URL;

  before(async () => {
    otherUri = new URL(process.env['MONGODB_URI'] ?? '');
    otherUri.searchParams.set('appName', 'other');
    other = await startCalledService({ ...process.env, MONGODB_URI: otherUri.href });
  });
  after(() => other.kill());

  it('a posting is not refused because of a group that was not written', async () => {
    const id = await openWallet(50_000);
    // This posting holds the lane until the other two wait for it, so that those two form one
    // group.
    const leading: Posting = {
      ...debit(id, 1_000),
      inserts: [{ collection: 'deposits', document: { _id: [] } }],
    };
    // The first journal read is for the refusal, and the second follows the lost commit. By then,
    // the posting that took the balance has timed out and can no longer be written.
    const journals: Fault = { kind: 'pause', commands: ['find'], namespace: namespaceOf('journals') };
    const [, lost, refused] = await withFault({ ...journals, times: 2, ms: 1_500 }, () =>
      withFault({ kind: 'transient', commands: ['commitTransaction'] }, () =>
        Promise.all([
          failureOf(post(leading)),
          failureOf(post(debit(id, 40_000), { deadlineMs: 2_200 })),
          post(debit(id, 30_000), { deadlineMs: 10_000 }),
        ]),
      ),
    );
    expect(lost).to.be.instanceOf(Error);
    // The wallet held 50,000 rupiah throughout.
    expect(refused.outcome).to.equal('posted');
    expect(await getWallet(id)).to.include({ balance: 20_000, seq: 2 });
  });

  it('a repeat is not refused because of the balance before the call', async () => {
    const id = await openWallet(50_000);
    const refId = newId();
    const fault = await startFault({ kind: 'pause', commands: ['commitTransaction'], ms: 1_500 });
    const first = post(debit(id, 60_000, refId), { deadlineMs: 10_000 });
    await eventually('the refusal is sent', async () => (await fault.count()) > 0);
    await fault.end();
    await other.callOrThrow('deposit', { accountId: id, amount: 20_000, refId: newId() });
    // The client knows that its deposit has succeeded. The balance now covers the debit, so the
    // client repeats that call.
    const again = await post(debit(id, 60_000, refId), { deadlineMs: 10_000 });
    expect((await first).outcome).to.equal('insufficient');
    expect(again.outcome).to.equal('posted');
  });

  it('a smaller posting is not refused because a larger one with its key is refused', async () => {
    const id = await openWallet(50_000);
    const refId = newId();
    const results = await Promise.all([60_000, 10_000].map((amount) => post(debit(id, amount, refId))));
    expect(results.map(({ outcome }) => outcome)).to.deep.equal(['insufficient', 'posted']);
  });

  it('a read without a reply blocks one purchase, not the following ones', async () => {
    const shop = await openShop('http://127.0.0.1:9');
    const fault = await startFault({
      kind: 'silence',
      commands: ['find'],
      namespace: namespaceOf('transactions'),
    });
    const stuck = failureOf(shop.buy());
    await eventually('the read is sent', async () => (await fault.count()) > 0);
    await fault.end();
    const next = failureOf(shop.buy());
    await eventually('the next one is answered', () =>
      Promise.race([next.then(() => true), resolveNextTick()]),
    );
    await eventually('the first one is answered', () =>
      Promise.race([stuck.then(() => true), resolveNextTick()]),
    );
  });

  it('an index check without a reply does not block postings forever', async () => {
    const id = await openWallet(50_000);
    otherUri.searchParams.set('appName', 'starting');
    const uri = otherUri.href;
    const fault = await startFault({ kind: 'silence', commands: ['listIndexes'], uri });
    const starting = await startCalledService({ ...process.env, MONGODB_URI: uri });
    try {
      const deposit = () => starting.call('deposit', { accountId: id, amount: 1_000, refId: newId() });
      await eventually('a deposit succeeds', async () => (await deposit()).ok, 20_000);
    } finally {
      await fault.end();
      await starting.kill();
    }
  });

  /**
   * Resolves in the next iteration of the event loop. Compared with a promise that may still be
   * pending.
   */
  function resolveNextTick(): Promise<false> {
    return new Promise((resolve) => setTimeout(() => resolve(false), 0));
  }
});
