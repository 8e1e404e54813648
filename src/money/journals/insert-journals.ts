import { now } from '../../shared/clock.js';
import { newId } from '../../shared/ids.js';
import { int64 } from '../../database/money-type.js';
import type { Session } from '../../database/mongo.js';
import { journals, type Journal, type JournalLine } from './journal.model.js';

export type NewJournal = Omit<Journal, '_id' | 'createdAt'>;

/**
 * Appends journals within the caller's database transaction.
 * Invariant (docs/money.md#rules): the lines of each sum to 0; anything else is a bug and throws before it is
 * written.
 * @throws MongoServerError 11000 if this movement was already made (unique {subjectId, kind}).
 */
export async function insertJournals(session: Session, movements: NewJournal[]): Promise<void> {
  await journals.insertMany(movements.map(toStored), { session });
}

function toStored(journal: NewJournal): Journal {
  const sum = journal.lines.reduce((total, line) => total + line.amount, 0);
  if (sum !== 0) {
    throw new Error(`Journal ${journal.kind} of ${journal.subjectId} does not balance: ${sum}`);
  }
  return {
    _id: newId(),
    kind: journal.kind,
    subjectId: journal.subjectId,
    walletId: journal.walletId,
    walletSeq: journal.walletSeq === null ? null : int64(journal.walletSeq),
    balanceAfter: journal.balanceAfter === null ? null : int64(journal.balanceAfter),
    lines: journal.lines.map((line) => ({ account: line.account, amount: int64(line.amount) })),
    createdAt: now(),
  };
}

/** The two lines of a movement of `amount` rupiah. */
export function move(
  amount: number,
  { from, to }: { from: JournalLine['account']; to: JournalLine['account'] },
): JournalLine[] {
  return [
    { account: from, amount: -amount },
    { account: to, amount },
  ];
}
