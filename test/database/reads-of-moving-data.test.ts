/**
 * Reads in several batches or queries while their data changes. MongoDB cursors are not snapshots.
 */
import { expect } from 'chai';
import mongoose from 'mongoose';

import { BankLineModel, type BankLine } from '../../src/deposits/bank/bank-line.model.js';
import { removeOldLines } from '../../src/deposits/bank/bank-lines.js';
import { exactReadOptions } from '../../src/money/closes/canonical-text.js';
import { journals, type Journal } from '../../src/money/journals/journal.model.js';
import { maskPurchase } from '../../src/privacy/mask-purchase.js';
import { findPurchase } from '../../src/purchases/find-purchase.js';
import { wallets, type Wallet } from '../../src/money/wallets/wallet.model.js';
import { createFindingLog } from '../../src/reconciliation/ledger/ledger-report.js';
import { createOpenCheck } from '../../src/reconciliation/ledger/check-open-part.js';
import { readSubjectFacts } from '../../src/reconciliation/closes/subject-facts.js';
import { newId } from '../../src/shared/ids.js';
import { maskNumber } from '../../src/shared/mask.js';
import { gatherFigures } from '../../src/signals/gather-figures.js';
import { claimDeliveries } from '../../src/webhooks/deliver/claim-deliveries.js';
import { deliveries } from '../../src/webhooks/deliver/delivery.model.js';
import { buildDelivery } from '../../src/webhooks/new-delivery.js';
import { openPlay } from '../reconciliation/closes/ledger-play.js';
import { namespaceOf } from '../money/support/debits.js';
import { eventually } from '../support/eventually.js';
import { startFault } from '../support/mongo-faults.js';
import { useDatabase } from '../webhooks/support/database.js';

/**
 * Makes a change while a command of `read` waits for its execution.
 * @returns the result of `read`.
 */
async function changeDuringRead<T>(
  pausePoint: { command: string; collection: string },
  { read, change }: { read: () => Promise<T>; change: () => Promise<unknown> },
): Promise<T> {
  const fault = await startFault({
    commands: [pausePoint.command],
    namespace: namespaceOf(pausePoint.collection),
    kind: 'pause',
    ms: 3_000,
    times: 1,
  });
  let isRead = false;
  const reading = read().finally(() => (isRead = true));
  await eventually('the read is paused', async () => isRead || (await fault.count()) === 1);
  expect(isRead, 'read without the paused command').to.equal(false);
  await change();
  expect(isRead, 'read before the change').to.equal(false);
  const found = await reading;
  await fault.end();
  return found;
}

describe('reads of data that changes during the read', () => {
  useDatabase();

  for (const [what, change] of [
    ['reversed', (play, id) => findPurchase(play.buyer._id, id).then((sale) => play.reverse(sale))],
    [
      'masked',
      async (play, id) => {
        const how = { hide: maskNumber, endsReports: false };
        const { left } = await maskPurchase(await findPurchase(play.buyer._id, id), how);
        expect(left).to.equal(null);
      },
    ],
  ] satisfies [string, (play: Awaited<ReturnType<typeof openPlay>>, id: string) => Promise<void>][]) {
    it(`hash a sale unchanged if the sale is ${what} during a close`, async () => {
      const play = await openPlay();
      const { _id } = await play.buy();
      await play.succeed(await findPurchase(play.buyer._id, _id));
      await play.post();
      const posting = await journals.findOne<Journal>(
        { accountId: play.seller._id, kind: 'seller-posting' },
        exactReadOptions,
      );
      if (!posting) {
        throw new Error('The sale was not posted');
      }
      const read = async () => (await readSubjectFacts([posting]))(posting);
      const before = await read();
      const pausePoint = { command: 'find', collection: 'transactions' };
      expect(await changeDuringRead(pausePoint, { read, change: () => change(play, _id) })).to.deep.equal(
        before,
      );
      expect(await read(), 'read after the change').to.deep.equal(before);
    });
  }

  it('claim a delivery once even if it moves in its index', async () => {
    const accountId = newId();
    const due = (url: string, agoMs: number) => {
      const event = { event: 'ping' as const, payload: {}, channel: 'webhook' as const };
      const row = buildDelivery({ ...event, id: newId(), accountId, url });
      return { ...row, nextAttemptAt: new Date(Date.now() - agoMs) };
    };
    // More rows than the first cursor batch holds, and fewer than one claim takes.
    const rows = Array.from({ length: 110 }, (_, n) => due('https://one.example/', 60_000 - n));
    const other = due('https://two.example/', 60_000);
    await deliveries.insertMany([...rows, other]);
    const receiverId = rows[0]?.receiverId ?? '';
    const [{ rows: claimed }] = await changeDuringRead(
      { command: 'getMore', collection: 'deliveries' },
      {
        read: () => Promise.all([claimDeliveries(receiverId, 200), claimDeliveries(other.receiverId, 200)]),
        // Simulates another worker that releases its claim.
        change: () =>
          deliveries.updateMany(
            { _id: { $in: [rows[0]?._id ?? '', other._id] }, accountId },
            { $set: { nextAttemptAt: new Date(Date.now() - 5_000) } },
          ),
      },
    );
    expect(claimed).to.have.length(rows.length);
    expect(new Set(claimed.map(({ _id }) => _id)).size).to.equal(rows.length);
  });

  it('return the same debt to sellers while a sale is posted', async () => {
    const play = await openPlay();
    const { _id } = await play.buy();
    await play.succeed(await findPurchase(play.buyer._id, _id));
    const read = async () => {
      const { found } = await gatherFigures();
      const owed = found.filter(({ name }) => name === 'topup_sellers_owed_rupiah');
      expect(owed).to.have.length(3);
      return owed.reduce((sum, { value }) => sum + value, 0);
    };
    const before = await read();
    const pausePoint = { command: 'find', collection: 'wallets' };
    expect(await changeDuringRead(pausePoint, { read, change: () => play.post() })).to.equal(before);
    expect(await read(), 'read after the change').to.equal(before);
  });

  it('report no finding for an account that is created during a verification', async () => {
    const id = newId();
    const log = createFindingLog();
    const range = { $gt: '', $lte: id, $type: 'string' as const };
    // The verification has found a wallet without an account, so it reads both again.
    const read = () => createOpenCheck(log).range(range, [{ _id: id }] as Wallet[]);
    const pausePoint = { command: 'find', collection: 'wallets' };
    await changeDuringRead(pausePoint, {
      read,
      change: async () => {
        await mongoose.connection.collection<{ _id: string }>('accounts').insertOne({ _id: id });
        await wallets.insertOne({ _id: id } as Wallet);
      },
    });
    expect(log.findings).to.deep.equal([]);
  });

  it('keep an old bank line that is reopened during the removal of old lines', async () => {
    const line: BankLine = {
      _id: newId(),
      key: newId(),
      day: '2020-01-01',
      amount: 50_000,
      status: 'set-aside',
      description: 'BUDI',
      depositId: null,
      file: 'x',
      createdAt: new Date(),
      decided: null,
    };
    await BankLineModel.create(line);
    const removed = await changeDuringRead(
      { command: 'delete', collection: 'bankLines' },
      {
        read: () => removeOldLines(Date.now()),
        change: () => BankLineModel.updateOne({ _id: line._id }, { $set: { status: 'open' } }),
      },
    );
    expect(removed).to.equal(0);
    expect(await BankLineModel.countDocuments({ _id: line._id })).to.equal(1);
  });
});
