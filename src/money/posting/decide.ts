import { limits } from '../../../config/limits.js';
import type { Wallet } from '../wallets/wallet.model.js';
import type { QueuedPosting } from './item.js';
import type { PostingResult, WalletAfter } from './posting.js';

/** The results of a group's postings, and the wallets after the group. */
export interface Decisions {
  results: Map<QueuedPosting, PostingResult>;
  /** Changed wallets only. */
  wallets: Map<string, { before: Wallet; after: WalletAfter }>;
}

/**
 * Decides a group in memory, in order of arrival. Each posting sees the wallet as the earlier
 * postings leave it.
 * @param known Results that are already known: duplicates, and postings with failed expectations.
 */
export function decide(
  items: QueuedPosting[],
  wallets: Map<string, Wallet>,
  known: ReadonlyMap<QueuedPosting, PostingResult>,
): Decisions {
  const changed = new Map<string, { before: Wallet; after: WalletAfter }>();
  const results = new Map<QueuedPosting, PostingResult>();
  for (const item of items) {
    results.set(item, known.get(item) ?? decideOne(item, wallets, changed));
  }
  return { results, wallets: changed };
}

function decideOne(
  { posting: { accountId, wallet: change } }: QueuedPosting,
  wallets: Map<string, Wallet>,
  changed: Map<string, { before: Wallet; after: WalletAfter }>,
): PostingResult {
  if (!change) {
    return { outcome: 'posted', wallet: null };
  }
  const before = changed.get(accountId)?.before ?? wallets.get(accountId);
  if (!before) {
    throw new Error(`Account ${accountId} has no wallet`);
  }
  const now = changed.get(accountId)?.after ?? before;
  const after = {
    balance: now.balance + change.balance,
    held: now.held + (change.held ?? 0),
    seq: now.seq + 1,
  };
  const isOverdrawn = change.balance < 0 && after.balance < 0 && !change.mayOverdraw;
  const isInDebt = change.needsNoDebt === true && now.balance < 0;
  if (isOverdrawn || isInDebt || after.held < 0) {
    return { outcome: 'insufficient', balance: now.balance };
  }
  if (change.balance > 0 && after.balance > limits.moneyMax) {
    return { outcome: 'too-large' };
  }
  changed.set(accountId, { before, after });
  return { outcome: 'posted', wallet: after };
}
