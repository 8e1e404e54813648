import { inTransaction } from '../../database/mongo.js';
import { rangeOf } from '../../database/shard-range.js';
import { addSums, rootOf, walletsDigest } from '../../money/closes/close-hash.js';
import { signRoot } from '../../money/closes/close-key.js';
import { dayCloses, type DayClose, type DayRoot } from '../../money/closes/day-close.model.js';
import type { ClosedDay } from '../../money/closes/find-close.js';
import {
  storedSums,
  toStored,
  walletCloses,
  type LedgerSums,
  type WalletClose,
} from '../../money/closes/wallet-close.model.js';
import { wallets, type Wallet } from '../../money/wallets/wallet.model.js';
import { now } from '../../shared/clock.js';
import { ConflictError } from '../../shared/errors.js';
import { asWritten } from '../../shared/say.js';
import { groupBy } from '../../shared/group-by.js';
import { buildWalletClose, type DayBound } from './build-wallet-close.js';
import { auditOfDay, closeAudit } from './close-audit.js';

const walletsPerPage = 200;
/** Wallets that are read at the same time. */
const atOnce = 8;
/** A root stands for ever, so it is made of nothing that a failover can take back. */
const held = { readConcern: 'majority' } as const;

/**
 * Closes a day: first a row for each wallet that moved and for each entry of the audit log, then the root over all
 * of them, in one conditional write.
 *
 * Safe to run twice, at once, and after it died half-way: a row stands once it is written and is never changed; each
 * batch of rows raises `batches` in its database transaction, on which the root's write is conditional. So no row comes
 * after the root, and no root is made of fewer rows than there are.
 * @param previous The day closed before this one.
 * @returns the day as it stands, whoever closed it.
 * @throws ConflictError if a wallet's journals do not follow each other, or the key of the days before is not here.
 */
export async function closeDay(bound: DayBound, previous: ClosedDay | null): Promise<ClosedDay> {
  const { day } = bound;
  await dayCloses.updateOne(
    { _id: day },
    { $setOnInsert: { state: 'building', batches: 0, content: null, root: null, signature: null } },
    { upsert: true },
  );
  await writeRows(bound);
  await closeAudit(bound, previous);
  for (;;) {
    const standing = await dayCloses.findOne({ _id: day }, held);
    if (standing?.state === 'closed') {
      return standing as ClosedDay;
    }
    await writeRoot(day, standing?.batches ?? 0, previous);
  }
}

async function writeRows(bound: DayBound): Promise<void> {
  let after = '';
  for (;;) {
    const page = await wallets
      .find<Pick<Wallet, '_id' | 'seq'>>({ _id: { $gt: after } }, { projection: { seq: 1 } })
      .sort({ _id: 1 })
      .limit(walletsPerPage)
      .toArray();
    const rows = await buildRows(page, bound);
    for (const some of groupBy(rows, ({ walletId }) => rangeOf(walletId)).values()) {
      if (!(await addRows(bound.day, some))) {
        return;
      }
    }
    const last = page.at(-1);
    if (!last || page.length < walletsPerPage) {
      return;
    }
    after = last._id;
  }
}

async function buildRows(page: Pick<Wallet, '_id' | 'seq'>[], bound: DayBound): Promise<WalletClose[]> {
  // A wallet whose row changes meanwhile may be missing here: `addRows` then finds its row or the day closed.
  const newest = await walletCloses
    .find({ walletId: { $in: page.map(({ _id }) => _id) }, newest: true }, held)
    .toArray();
  const newestOf = new Map(newest.map((row) => [row.walletId, row]));
  const moved = page.filter(({ _id, seq }) => {
    const row = newestOf.get(_id);
    return row?.day !== bound.day && seq > (row?.lastSeq ?? 0);
  });
  const rows: (WalletClose | null)[] = [];
  for (let start = 0; start < moved.length; start += atOnce) {
    const some = moved.slice(start, start + atOnce);
    rows.push(
      ...(await Promise.all(some.map(({ _id }) => buildWalletClose(_id, newestOf.get(_id) ?? null, bound)))),
    );
  }
  return rows.filter((row) => row !== null);
}

/** @returns false if the day is closed: nothing was written, and nothing more is to be done. */
async function addRows(day: string, rows: WalletClose[]): Promise<boolean> {
  return inTransaction(async (session) => {
    const fence = await dayCloses.updateOne(
      { _id: day, state: 'building' },
      { $inc: { batches: 1 } },
      { session },
    );
    if (fence.matchedCount === 0) {
      return false;
    }
    const ids = rows.map(({ _id }) => _id);
    const known = await walletCloses
      .find<Pick<WalletClose, '_id'>>(
        { _id: { $in: ids }, walletId: { $in: rows.map(({ walletId }) => walletId) } },
        { session, projection: { _id: 1 } },
      )
      .toArray();
    const written = new Set(known.map(({ _id }) => _id));
    const fresh = rows.filter(({ _id }) => !written.has(_id));
    if (fresh.length > 0) {
      await walletCloses.updateMany(
        { walletId: { $in: fresh.map(({ walletId }) => walletId) }, newest: true },
        { $set: { newest: false } },
        { session },
      );
      await walletCloses.insertMany(fresh.map(toStored), { session });
    }
    return true;
  });
}

/** Writes the root, unless rows were added since `batches` was read: then it has to be made again. */
async function writeRoot(day: string, batches: number, previous: ClosedDay | null): Promise<void> {
  const digest = walletsDigest();
  const found = { wallets: 0, journals: 0 };
  let totals: LedgerSums = previous?.content.totals ?? {};
  for await (const row of rowsOf(day)) {
    digest.add(row.hash);
    found.wallets += 1;
    found.journals += row.lastSeq - row.firstSeq + 1;
    totals = addSums(totals, row.sums);
  }
  const content: DayRoot = {
    ...found,
    totals,
    walletsHash: digest.hash(),
    audit: await auditOfDay(day),
    previous: previous?.root ?? null,
    closedAt: now(),
  };
  const root = rootOf(day, content);
  const signature = signRoot(day, root);
  refuseLostKey(day, signature, previous);
  await dayCloses.updateOne(
    { _id: day, state: 'building', batches },
    {
      $set: { state: 'closed', content: { ...content, totals: storedSums(totals) }, root, signature },
    },
  );
}

/** In the order of their wallets. @param after The id of the row before; absent: all. */
export function rowsOf(day: string, after = `${day}:`) {
  return walletCloses.find({ _id: { $gt: after, $lt: `${day};` } }, held).sort({ _id: 1 });
}

/** A process that was not given the key must not end a chain of signatures. */
function refuseLostKey(day: string, signature: DayClose['signature'], previous: ClosedDay | null): void {
  if (!signature && previous?.signature) {
    throw new ConflictError(
      asWritten(
        `${previous._id} was closed with a signature, so ${day} is not closed without one. Set LEDGER_CLOSE_KEY in this process.`,
      ),
    );
  }
}
