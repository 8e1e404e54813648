/** Yardstick for refunds: one driver transaction each. */
import { randomUUID } from 'node:crypto';
import { Long, type Document } from 'mongodb';
import { serveCalls } from '../support/calls.js';
import { inBareTransaction } from './bare-server.js';
import { openBareShop, type BareShop } from './bare-shop.js';
import { product } from '../support/bench-product.js';
import { refundAll, type RefundResult, type RefundWork } from './refunder.js';

export async function runBareRefunder(args: string[]): Promise<void> {
  const shop = await openBareShop(args, { fresh: false });
  serveCalls((work: RefundWork) => ('make' in work ? addPurchases(shop, work) : refund(shop, work)));
}

/** Inserts purchases without debits, which is enough for a refund. */
async function addPurchases(
  { transactions }: BareShop,
  { accountId, make: count }: Extract<RefundWork, { make: number }>,
): Promise<RefundResult> {
  const made = Array.from({ length: count }, () => ({
    _id: randomUUID(),
    accountId,
    refId: randomUUID(),
    status: 'PENDING',
    createdAt: new Date(),
  }));
  await transactions.insertMany(made);
  return { refunded: 0, perSecond: 0 };
}

async function refund(
  shop: BareShop,
  { accountId, ...how }: Extract<RefundWork, { seconds: number }>,
): Promise<RefundResult> {
  const open = await shop.transactions.find({ accountId, status: 'PENDING' } as Document).toArray();
  return refundAll(open, how, ({ _id }) =>
    inBareTransaction(shop, async (session) => {
      const amount = Long.fromNumber(product.price);
      const wallet = await shop.wallets.findOneAndUpdate(
        { _id: accountId },
        { $inc: { balance: amount, seq: Long.ONE } },
        { session, returnDocument: 'after' },
      );
      const set = {
        status: 'FAILED',
        version: 2,
        updatedAt: new Date(),
        finalAt: new Date(),
        nextActionAt: null,
      };
      await shop.transactions.updateOne({ _id, status: 'PENDING' }, { $set: set }, { session });
      const journal = {
        _id: randomUUID(),
        kind: 'refund',
        subjectId: _id,
        walletId: accountId,
        walletSeq: wallet?.seq,
        balanceAfter: wallet?.balance,
        createdAt: new Date(),
        lines: [
          { account: 'platform:suspense', amount: amount.negate() },
          { account: `wallet:${accountId}`, amount },
        ],
      };
      await shop.journals.insertOne(journal, { session });
    }),
  );
}
