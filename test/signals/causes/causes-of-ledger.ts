/**
 * Causes of ledger alarms: a wallet that differs from its journals, a provider record that differs,
 * and missing checks.
 */
import { Long } from 'mongodb';
import { eventually } from '../../support/eventually.js';
import { topupProcess } from '../../support/topup.js';
import { ago, hourMs, type Causes, type Scene } from './scene.js';

/**
 * Moves the last run of these checks back, because they run once a day. Their findings are real.
 */
export function causesOfLedger({ stack, rows, idOf, askClock }: Scene): Causes {
  const twoDays = { at: ago(48 * hourMs) };
  const verifications = rows('ledgerVerifications');
  const compared = rows('providerReconciliations');
  const orders = rows('attempts');
  let closedAt = new Date();

  /**
   * Creates a wallet for the sellers that other causes have added, because every seller has one.
   */
  async function giveWallets(): Promise<void> {
    const zero = Long.fromNumber(0);
    for (const { _id } of await rows('accounts').find({ role: 'seller' }).toArray()) {
      const empty = { $setOnInsert: { balance: zero, held: zero, seq: zero } };
      await rows('wallets').updateOne({ _id }, empty, { upsert: true });
    }
  }
  async function verify(isSo: (failures: number) => boolean): Promise<void> {
    await giveWallets();
    // Other causes have moved purchases to another day without updating the totals, so rebuild the
    // totals.
    const { code, stdout } = await topupProcess(['totals', 'rebuild'], stack.env);
    if (code !== 0) {
      throw new Error(stdout);
    }
    // A failed verification is repeated every hour, so move its time back by more than an hour.
    await verifications.updateMany({}, { $set: { ok: false, at: ago(hourMs + 60_000) } });
    const since = new Date();
    await askClock('verify-ledger');
    await eventually(
      'a verification since the change',
      async () => {
        const found = await verifications.findOne({ at: { $gte: since } });
        if (found !== null && !isSo(found['failures'] as number)) {
          throw new Error(JSON.stringify([found['checks'], found['findings']]));
        }
        return found !== null;
      },
      60_000,
    );
  }
  async function compare(different: number): Promise<void> {
    const sellerId = await idOf('seller');
    const first = await eventually('the first comparison', () => compared.findOne({ sellerId }), 60_000);
    const since = new Date();
    await compared.updateOne({ _id: first._id }, { $set: { different: 9, at: ago(hourMs + 60_000) } });
    await askClock('reconcile-providers');
    await eventually(
      'a comparison since the change',
      () => compared.findOne({ sellerId, different, at: { $gte: since } }),
      60_000,
    );
  }

  const causes: Causes['causes'] = [
    {
      alarm: 'TopupProviderRecordDiffers',
      how: 'an order of yesterday that the provider does not have',
      async begin() {
        const sellerId = await idOf('seller');
        await orders.insertOne({
          _id: 'not-in-their-record',
          transactionId: 'none',
          accountId: 'none',
          n: 1,
          sellerId,
          status: 'OK',
          open: false,
          serialNumber: '1',
          createdAt: ago(24 * hourMs),
        });
        await compare(1);
      },
      async end() {
        await orders.deleteOne({ _id: 'not-in-their-record' });
        await compare(0);
      },
    },
    {
      alarm: 'TopupProviderNotReconciled',
      how: 'its last comparison, two days older *',
      async begin() {
        const sellerId = await idOf('seller2');
        await eventually('the first comparison', () => compared.findOne({ sellerId }), 60_000);
        await compared.updateMany({ sellerId }, { $set: twoDays });
      },
      async end() {
        // If the stored comparison is deleted, a new one is made.
        await compared.deleteMany({ sellerId: await idOf('seller2') });
        await askClock('reconcile-providers');
      },
    },
    {
      alarm: 'TopupLedgerNotClosed',
      how: 'the last close, two days older *',
      async begin() {
        const closed = await eventually(
          'a closed day',
          () => rows('dayCloses').findOne({ state: 'closed' }),
          60_000,
        );
        closedAt = (closed['content'] as { closedAt: Date }).closedAt;
        await setClosedAt(twoDays.at);
      },
      end: () => setClosedAt(closedAt),
    },
    {
      alarm: 'TopupLedgerRed',
      // Use an idle account. On an active one, later journals would keep the difference.
      how: 'a wallet with one rupiah more than its journals',
      async begin() {
        await rows('wallets').updateOne({ _id: await idOf('suspended') }, { $inc: { balance: 1 } });
        await verify((failures) => failures > 0);
      },
      async end() {
        await rows('wallets').updateOne({ _id: await idOf('suspended') }, { $inc: { balance: -1 } });
        await verify((failures) => failures === 0);
      },
    },
    {
      alarm: 'TopupLedgerNotVerified',
      how: 'the last verification, two days older *',
      begin: () => verifications.updateMany({}, { $set: twoDays }),
      restore: () => verifications.updateMany({ at: { $gt: ago(24 * hourMs) } }, { $set: twoDays }),
      // Nothing to do: the end of the cause TopupLedgerRed has already verified the ledger.
      end: () => Promise.resolve(),
    },
  ];

  function setClosedAt(at: Date): Promise<unknown> {
    return rows('dayCloses').updateMany({ state: 'closed' }, { $set: { 'content.closedAt': at } });
  }
  return { causes, stop: () => Promise.resolve() };
}
