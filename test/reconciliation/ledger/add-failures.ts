import { Long, type Db, type Document } from 'mongodb';
import type { Ids } from './history.js';

const raw = { promoteLongs: false };

/**
 * Adds many failed purchases of the idle buyer, in the format of the service.
 * @returns their ids in ascending order.
 */
export async function addFailures(db: Db, ids: Ids): Promise<string[]> {
  const [purchase, order, journals, wallet] = await Promise.all([
    db.collection('transactions').findOne({ _id: ids.failed as never }, raw),
    db.collection('attempts').findOne({ transactionId: ids.failed }, raw),
    db.collection('journals').find({ subjectId: ids.failed }, raw).sort({ walletSeq: 1 }).toArray(),
    db.collection('wallets').findOne({ _id: ids.idleId as never }, raw),
  ]);
  const copies = Array.from({ length: 1_300 }, (_, index) => `e${index.toString(16).padStart(31, '0')}`);
  await db
    .collection('transactions')
    .insertMany(copies.map((_id) => ({ ...purchase, _id: _id as never, refId: _id, accountId: ids.idleId })));
  await db
    .collection('attempts')
    .insertMany(copies.map((id) => ({ ...order, _id: `${id}-1` as never, transactionId: id })));
  let seq = Number(wallet?.['seq']);
  let balance = Number(wallet?.['balance']);
  await db.collection('journals').insertMany(
    copies.flatMap((id) =>
      journals.map(({ kind, lines, createdAt }) => {
        const moved = (lines as Document[]).map(({ account, amount }) => ({
          account: String(account).startsWith('wallet:') ? `wallet:${ids.idleId}` : account,
          amount,
        }));
        seq += 1;
        balance += moved
          .filter((each) => each.account === `wallet:${ids.idleId}`)
          .reduce((sum, each) => sum + Number(each.amount), 0);
        return {
          _id: `${id}-${kind}` as never,
          kind,
          accountId: ids.idleId,
          subjectId: id,
          walletId: ids.idleId,
          walletSeq: Long.fromNumber(seq),
          balanceAfter: Long.fromNumber(balance),
          lines: moved,
          createdAt,
        };
      }),
    ),
  );
  await setSeq(db, ids, seq);
  return copies;
}

export async function removeFailures(db: Db, ids: Ids, copies: string[]): Promise<void> {
  await db.collection('transactions').deleteMany({ _id: { $in: copies as never[] } });
  await db.collection('attempts').deleteMany({ transactionId: { $in: copies } });
  await db.collection('journals').deleteMany({ subjectId: { $in: copies } });
  await setSeq(db, ids, 1);
}

/**
 * Sets the seq of the wallet. A failed purchase refunds its debit, so the balance does not change.
 */
async function setSeq(db: Db, ids: Ids, seq: number): Promise<void> {
  await db
    .collection('wallets')
    .updateOne({ _id: ids.idleId as never }, { $set: { seq: Long.fromNumber(seq) } });
}
