import type { ClientSession } from 'mongodb';
import { toInt64 } from '../../database/typed-collection.js';
import { getPostingClient } from '../../database/mongo.js';
import { getShardRange } from '../../database/sharding.js';
import { journalsCollection, buildJournal } from '../journals/new-journal.js';
import { dailyTotals } from '../totals/daily-totals.model.js';
import { takeSlot } from '../totals/slots.js';
import { buildTotalsStatements } from '../totals/write-totals.js';
import type { Wallet } from '../wallets/wallet.model.js';
import { insertAll, findAll, updateAll } from './commands.js';
import { commitOrVerify } from './commit.js';
import { decide, type Decisions } from './decide.js';
import {
  getInsertDocument,
  getChangeSet,
  type Change,
  type Posting,
  type PostingResult,
  type WalletAfter,
} from './posting.js';
import type { QueuedPosting } from './item.js';
import { groupBy } from '../../shared/collections.js';
import { buildChangeFilter, findUnwritable, findBarred } from './look-up.js';

/**
 * Writes a group's postings in one database transaction and returns the result of each. Refusals
 * (insufficient, duplicate, stale) are decided at the snapshot from which the other postings are
 * written. So a duplicate is never refused as insufficient.
 *
 * @param options.careful Check all postings before the write. Set after an attempt without it
 *   failed with a mismatch.
 * @returns The results. Postings that a lost commit did not write are missing, and so are refusals
 *   decided together with them. Retry the missing ones.
 * @throws MismatchError if not careful.
 *
 * @throws MongoDB errors if nothing was written.
 * @throws UnknownOutcomeError if the commit may have succeeded.
 */
export async function writeGroup(
  items: QueuedPosting[],
  { careful }: { careful: boolean },
): Promise<Map<QueuedPosting, PostingResult>> {
  const session = getPostingClient().startSession();
  // All postings of a lane are in one shard range.
  const range = getShardRange(items[0]?.posting.accountId ?? '');
  const slot = items.some(({ posting }) => posting.totals?.length) ? takeSlot(range) : null;
  try {
    session.startTransaction({ readConcern: { level: 'snapshot' }, writeConcern: { w: 'majority' } });
    const decisions = await readAndDecide(session, items, careful);
    const posted = items.filter((each) => decisions.results.get(each)?.outcome === 'posted');
    await write(session, posted, decisions);
    if (slot) {
      await writeTotals(session, posted, slot.slot);
    }
    // Commit read-only groups too: a majority must hold the reads before callers get their results.
    const lost = await commitOrVerify(session, posted);
    return lost.length === 0 ? decisions.results : keepCertainResults(decisions, lost);
  } finally {
    // This aborts an uncommitted transaction.
    await session.endSession().catch(() => undefined);
    slot?.giveBack();
  }
}

/**
 * Drops the lost postings, and all refusals, because they were decided as if the lost postings were
 * written.
 */
function keepCertainResults(decisions: Decisions, lost: QueuedPosting[]): Map<QueuedPosting, PostingResult> {
  return new Map(
    [...decisions.results].filter(([item, { outcome }]) => outcome === 'posted' && !lost.includes(item)),
  );
}

async function readAndDecide(
  session: ClientSession,
  items: QueuedPosting[],
  careful: boolean,
): Promise<Decisions> {
  const wallets = await readWallets(session, items);
  const known = await (careful ? findUnwritable : findBarred)(session, items);
  const first = decide(items, wallets, known);
  const refused = items.filter(
    (each) => !known.has(each) && first.results.get(each)?.outcome === 'insufficient',
  );
  if (careful || refused.length === 0) {
    return first;
  }
  const accepted = await findUnwritable(session, refused);
  return accepted.size === 0 ? first : decide(items, wallets, new Map([...known, ...accepted]));
}

async function readWallets(session: ClientSession, items: QueuedPosting[]): Promise<Map<string, Wallet>> {
  const ids = new Set(items.filter(({ posting }) => posting.wallet).map(({ posting }) => posting.accountId));
  if (ids.size === 0) {
    return new Map();
  }
  const found = await findAll(session, 'wallets', { _id: { $in: [...ids] } });
  return new Map(found.map((wallet) => [String(wallet['_id']), wallet as unknown as Wallet]));
}

async function write(session: ClientSession, posted: QueuedPosting[], decisions: Decisions): Promise<void> {
  const afterOf = (item: QueuedPosting): WalletAfter | null => {
    const result = decisions.results.get(item);
    return result?.outcome === 'posted' ? result.wallet : null;
  };
  await writeWallets(session, decisions);
  const changes = posted.flatMap((item) =>
    (item.posting.changes ?? []).map((change) => ({ posting: item.posting, change, after: afterOf(item) })),
  );
  for (const [collection, group] of groupBy(changes, ({ change }) => change.collection)) {
    await updateAll(
      session,
      collection,
      group.map(({ posting, change, after }) => buildUpdateStatement(posting, change, after)),
      group.reduce((sum, { change }) => sum + (typeof change.id === 'string' ? 1 : change.id.length), 0),
    );
  }
  const inserts = posted.flatMap((item) => {
    const after = afterOf(item);
    const postingInserts = (item.posting.inserts ?? []).map((insert) => ({
      collection: insert.collection,
      document: getInsertDocument(insert, after),
    }));
    const { posting, journalId } = item;
    return posting.lines
      ? [
          ...postingInserts,
          { collection: journalsCollection, document: buildJournal(journalId, posting, after) },
        ]
      : postingInserts;
  });
  for (const [collection, group] of groupBy(inserts, (each) => each.collection)) {
    await insertAll(
      session,
      collection,
      group.map(({ document }) => document),
    );
  }
}

async function writeWallets(session: ClientSession, { wallets }: Decisions): Promise<void> {
  if (wallets.size === 0) {
    return;
  }
  const updates = [...wallets].map(([id, { before, after }]) => ({
    q: { _id: id, seq: toInt64(before.seq) },
    u: { $set: { balance: toInt64(after.balance), held: toInt64(after.held), seq: toInt64(after.seq) } },
  }));
  await updateAll(session, 'wallets', updates, updates.length);
}

async function writeTotals(session: ClientSession, posted: QueuedPosting[], slot: number): Promise<void> {
  const statements = buildTotalsStatements(
    posted.flatMap(({ posting }) => posting.totals ?? []),
    slot,
  );
  if (statements.length > 0) {
    await updateAll(session, dailyTotals.collectionName, statements, statements.length);
  }
}

function buildUpdateStatement(posting: Posting, change: Change, after: WalletAfter | null) {
  return {
    q: buildChangeFilter(posting, change),
    u: { $set: getChangeSet(change, after) },
    multi: typeof change.id !== 'string',
  };
}
