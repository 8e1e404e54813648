import { now } from '../../shared/clock.js';
import { toInt64 } from '../../database/typed-collection.js';
import type { Posting, WalletAfter } from '../posting/posting.js';
import { journals, type Journal, type JournalKind, type JournalLine } from './journal.model.js';

export const journalsCollection = journals.collectionName;

/**
 * Builds the stored journal of a posting. `after` is the changed wallet, or null if no wallet
 * changes.
 */
export function buildJournal(_id: string, posting: Posting, after: WalletAfter | null): Journal {
  return {
    _id,
    accountId: posting.accountId,
    kind: posting.kind as JournalKind,
    subjectId: posting.subjectId,
    walletId: after ? posting.accountId : null,
    walletSeq: after && toInt64(after.seq),
    balanceAfter: after && toInt64(after.balance),
    lines: (posting.lines ?? []).map(({ account, amount }) => ({ account, amount: toInt64(amount) })),
    createdAt: now(),
  };
}

/** Builds the two lines that move `amount` rupiah from one ledger account to another. */
export function buildMovementLines(
  amount: number,
  { from, to }: { from: JournalLine['account']; to: JournalLine['account'] },
): JournalLine[] {
  return [
    { account: from, amount: -amount },
    { account: to, amount },
  ];
}
