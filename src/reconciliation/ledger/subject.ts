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
import { businessTime } from '../../shared/business-time.js';
import { nowMs } from '../../shared/clock.js';

/** All that is stored about one cause of money movements: a purchase, a deposit, a posting, a settlement. */
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
  /** Seller credits that the posting of this id posted. */
  posted: ReadCredit[];
  /** Who vouched for what no journal proves. */
  vouchers: Voucher[];
  /** Fields that are not what they have to be. */
  problems: LedgerFinding[];
}

/** An entry of the audit log that a change of a subject has to have. */
export interface Voucher {
  subjectId: string;
  action: string;
  /** Rupiah that it was about, where the entry says it. */
  amount: number | null;
}

/**
 * Nothing waits as long as this by itself: the longest pause between two questions to a provider is an hour, and a sweep
 * that is behind looks again after a minute.
 */
const waitMaxMs = 24 * 60 * 60_000;

/** Something open must be looked at again, and soon. @param otherwise Who else looks at it: a person. */
export function checkNextAction(nextActionAt: Date | null, otherwise: boolean): string[] {
  if (nextActionAt === null) {
    return otherwise ? [] : ['it is open but nobody will ever look at it'];
  }
  return nextActionAt.getTime() > nowMs() + waitMaxMs
    ? [`it is open but nobody will look at it before ${businessTime(nextActionAt)}`]
    : [];
}
