import { exactReadOptions } from '../../money/closes/canonical-text.js';
import {
  addLines,
  getLines,
  addSums,
  createDayDigest,
  toPlainNumber,
  hashRow,
} from '../../money/closes/close-hash.js';
import type { LedgerSums, WalletClose } from '../../money/closes/wallet-close.model.js';
import { findWalletJournals } from '../../money/closes/wallet-journals.js';
import type { Journal } from '../../money/journals/journal.model.js';
import { ConflictError } from '../../shared/errors.js';
import { asWritten } from '../../shared/say.js';
import { collectChunks } from '../../shared/collections.js';
import { readSubjectFacts } from './subject-facts.js';

/** The end of a wallet's day. The first journal at or after `end` belongs to the next day. */
export interface DayBound {
  day: string;
  /** The first instant of the next day. */
  end: Date;
  /**
   * Time of the closing process. A journal with a later time was written by a wrong clock, so it
   * does not end the day.
   */
  now: Date;
}

const chunkSize = 500;

/**
 * Builds a wallet's close of a day from its journals after the previous close, up to the end of the
 * day. Journals that are committed late belong to its next close.
 * @returns The close. Null if there are no such journals.
 * @throws ConflictError if the journals are not consecutive, because a close must not seal an
 * error.
 */
export async function buildWalletClose(
  walletId: string,
  previous: WalletClose | null,
  bound: DayBound,
): Promise<WalletClose | null> {
  const firstSeq = (previous?.lastSeq ?? 0) + 1;
  const digest = createDayDigest();
  let sums: LedgerSums = {};
  let last = { seq: firstSeq - 1, balance: previous?.balance ?? 0, held: previous?.held ?? 0 };
  // Journals never change, and new ones are appended, so each is read once. A majority read returns
  // only journals that a failover cannot roll back.
  const source = findWalletJournals(
    walletId,
    { after: last.seq },
    { ...exactReadOptions, readConcern: 'majority' },
  );
  for await (const chunk of collectChunks(takeUntilEnd(source, bound), chunkSize)) {
    // The subjects were written with these journals or earlier, so a majority holds the subjects
    // too.
    const factsOf = await readSubjectFacts(chunk);
    for (const journal of chunk) {
      const facts = factsOf(journal);
      last = getNextState(walletId, last, journal);
      digest.add(journal, facts.text);
      addLines(sums, getLines(journal));
      sums = addSums(sums, facts.sums);
    }
  }
  if (last.seq < firstSeq) {
    return null;
  }
  const { day } = bound;
  const row = {
    day,
    walletId,
    firstSeq,
    lastSeq: last.seq,
    balance: last.balance,
    held: last.held,
    sums,
    ...digest.hashes(),
    previous: previous?.hash ?? null,
  };
  return { _id: getWalletCloseId(day, walletId), ...row, hash: hashRow(row), newest: true };
}

export function getWalletCloseId(day: string, walletId: string): string {
  return `${day}:${walletId}`;
}

async function* takeUntilEnd(
  source: AsyncIterable<Journal>,
  { end, now }: DayBound,
): AsyncGenerator<Journal> {
  for await (const journal of source) {
    if (journal.createdAt >= end && journal.createdAt <= now) {
      return;
    }
    yield journal;
  }
}

interface WalletState {
  seq: number;
  balance: number;
  held: number;
}

function getNextState(walletId: string, before: WalletState, journal: Journal): WalletState {
  const own = (account: string) =>
    getLines(journal)
      .filter((line) => line.account === account)
      .reduce((sum, { amount }) => sum + toPlainNumber(amount), 0);
  const step = {
    seq: toPlainNumber(journal.walletSeq),
    balance: before.balance + own(`wallet:${walletId}`),
    held: before.held + own(`held:${walletId}`),
  };
  if (step.seq !== before.seq + 1 || step.balance !== toPlainNumber(journal.balanceAfter)) {
    throw new ConflictError(
      asWritten(
        `Wallet ${walletId} cannot be closed: journal ${step.seq} (${journal.kind} of ${journal.subjectId}) does not follow journal ${before.seq}. Run topup ledger verify.`,
      ),
    );
  }
  return step;
}
