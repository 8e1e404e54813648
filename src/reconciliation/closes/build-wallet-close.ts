import { exactRead } from '../../money/closes/canonical-text.js';
import { addLines, linesOf, addSums, dayDigest, numberOf, rowHash } from '../../money/closes/close-hash.js';
import type { LedgerSums, WalletClose } from '../../money/closes/wallet-close.model.js';
import { walletJournals } from '../../money/closes/wallet-journals.js';
import type { Journal } from '../../money/journals/journal.model.js';
import { ConflictError } from '../../shared/errors.js';
import { asWritten } from '../../shared/say.js';
import { inChunks } from '../../shared/in-chunks.js';
import { readSubjectFacts } from './subject-facts.js';

/** Where a day ends for a wallet: before its first journal that was written from `end` on. */
export interface DayBound {
  day: string;
  /** The first instant of the next day. */
  end: Date;
  /** Of the process that closes. A journal of later than that has a wrong clock, and ends no day. */
  now: Date;
}

const chunkSize = 500;

/**
 * A wallet's row of a day: its journals after those of its row before, up to the end of the day. Whatever is committed
 * late falls into its next row.
 * @returns null if there are none.
 * @throws ConflictError if its journals do not follow each other: what is wrong must not be closed.
 */
export async function buildWalletClose(
  walletId: string,
  previous: WalletClose | null,
  bound: DayBound,
): Promise<WalletClose | null> {
  const firstSeq = (previous?.lastSeq ?? 0) + 1;
  const digest = dayDigest();
  let sums: LedgerSums = {};
  let last = { seq: firstSeq - 1, balance: previous?.balance ?? 0, held: previous?.held ?? 0 };
  // Journals never change, and new ones follow the last: each is seen once. A failover takes none of these back.
  const source = walletJournals(walletId, { after: last.seq }, { ...exactRead, readConcern: 'majority' });
  for await (const chunk of inChunks(untilEnd(source, bound), chunkSize)) {
    // They were written with these journals or before, so a majority holds them too.
    const factsOf = await readSubjectFacts(chunk);
    for (const journal of chunk) {
      const facts = factsOf(journal);
      last = stepAfter(walletId, last, journal);
      digest.add(journal, facts.text);
      addLines(sums, linesOf(journal));
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
  return { _id: walletCloseId(day, walletId), ...row, hash: rowHash(row), newest: true };
}

export function walletCloseId(day: string, walletId: string): string {
  return `${day}:${walletId}`;
}

async function* untilEnd(source: AsyncIterable<Journal>, { end, now }: DayBound): AsyncGenerator<Journal> {
  for await (const journal of source) {
    if (journal.createdAt >= end && journal.createdAt <= now) {
      return;
    }
    yield journal;
  }
}

interface Step {
  seq: number;
  balance: number;
  held: number;
}

function stepAfter(walletId: string, before: Step, journal: Journal): Step {
  const own = (account: string) =>
    linesOf(journal)
      .filter((line) => line.account === account)
      .reduce((sum, { amount }) => sum + numberOf(amount), 0);
  const step = {
    seq: numberOf(journal.walletSeq),
    balance: before.balance + own(`wallet:${walletId}`),
    held: before.held + own(`held:${walletId}`),
  };
  if (step.seq !== before.seq + 1 || step.balance !== numberOf(journal.balanceAfter)) {
    throw new ConflictError(
      asWritten(
        `Wallet ${walletId} cannot be closed: journal ${step.seq} (${journal.kind} of ${journal.subjectId}) does not follow journal ${before.seq}. Run topup ledger verify.`,
      ),
    );
  }
  return step;
}
