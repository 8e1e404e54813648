import type { JournalKind, LedgerAccount } from '../journals/journal.model.js';
import { buildMovementLines } from '../journals/new-journal.js';
import type { Posting } from './posting.js';

/** The amount of a document comes to its account's wallet from a platform account, or, negative, goes there. Rupiah. */
export function buildWalletMovement(
  kind: JournalKind,
  from: LedgerAccount,
  { _id, accountId, amount }: { _id: string; accountId: string; amount: number },
): Pick<Posting, 'accountId' | 'kind' | 'subjectId' | 'wallet' | 'lines'> {
  return {
    accountId,
    kind,
    subjectId: _id,
    wallet: { balance: amount },
    lines: buildMovementLines(amount, { from, to: `wallet:${accountId}` }),
  };
}
