import type { LedgerFinding } from './ledger-report.js';
import type {
  ReadCredit,
  ReadDeposit,
  ReadJournal,
  ReadOrder,
  ReadPurchase,
  ReadQuote,
  ReadSettlement,
} from './stored-documents.js';
import { formatBusinessTime } from '../../shared/business-time.js';
import { nowMs } from '../../shared/clock.js';

/** All stored documents about one purchase, deposit, posting or settlement. */
export interface Subject {
  id: string;
  journals: ReadJournal[];
  purchase: ReadPurchase | null;
  orders: ReadOrder[];
  /** Seller credits of the transaction. */
  credits: ReadCredit[];
  /** The bill that the purchase pays. */
  quote: ReadQuote | null;
  deposit: ReadDeposit | null;
  settlement: ReadSettlement | null;
  /** Seller credits of the posting with this id. */
  posted: ReadCredit[];
  /** Audit entries for changes that no journal proves. */
  supportingEntries: SupportingEntry[];
  /** Findings about invalid fields. */
  problems: LedgerFinding[];
}

/** An audit entry that a subject requires. */
export interface SupportingEntry {
  subjectId: string;
  action: string;
  /** Amount of the entry in rupiah. Null if the entry has none. */
  amount: number | null;
}

/**
 * Longer than any wait of an open document. Provider queries are at most an hour apart, and sweeps
 * run every minute.
 */
const waitMaxMs = 24 * 60 * 60_000;

/**
 * Checks that an open document has a next action soon.
 * @param otherwise True if a person handles the document, so that it needs no next action.
 */
export function checkNextAction(nextActionAt: Date | null, otherwise: boolean): string[] {
  if (nextActionAt === null) {
    return otherwise ? [] : ['it is open but has no next action'];
  }
  return nextActionAt.getTime() > nowMs() + waitMaxMs
    ? [`it is open but its next action is not before ${formatBusinessTime(nextActionAt)}`]
    : [];
}
