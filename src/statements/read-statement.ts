import { journals, type Journal, type JournalKind } from '../money/journals/journal.model.js';
import { walletTimes } from '../money/closes/first-seq-at.js';
import { ofWallet, walletJournals } from '../money/closes/wallet-journals.js';
import type { Period } from '../shared/business-time.js';
import { readRefIds } from './read-ref-ids.js';

/** A period of a wallet as the journals that it has: fixed when it is opened, whatever is written after that. */
export interface Statement {
  walletId: string;
  period: Period;
  /** The first and the last `seq`; `lastSeq` is one less than `firstSeq` where there is none. */
  firstSeq: number;
  lastSeq: number;
}

export interface StatementEntry {
  seq: number;
  at: Date;
  kind: JournalKind;
  /** The client's reference of what it is for; null where that has none. */
  refId: string | null;
  subjectId: string;
  /** Rupiah, signed; 0 where only held money moved. */
  amount: number;
  /** After it. */
  balance: number;
}

/** Finds the journals of a period that a majority holds. Periods that meet share none and lose none (decision 015). */
export async function openStatement(walletId: string, period: Period): Promise<Statement> {
  const times = await walletTimes(walletId);
  const [firstSeq, next] = await Promise.all([
    times.firstSeqAt(period.start),
    times.firstSeqAt(new Date(period.end.getTime() + 1)),
  ]);
  return { walletId, period, firstSeq, lastSeq: next - 1 };
}

/**
 * Invariant: opening balance + the amounts of all entries = closing balance.
 * @returns null if the wallet has no such journals: not a statement of this wallet.
 */
export async function balancesOf({
  walletId,
  firstSeq,
  lastSeq,
}: Statement): Promise<{ opening: number; closing: number } | null> {
  const [opening, closing] = await Promise.all([
    balanceAt(walletId, firstSeq - 1),
    balanceAt(walletId, lastSeq),
  ]);
  return opening === null || closing === null ? null : { opening, closing };
}

/** The entries after a `seq`, oldest first. */
export async function readEntries(
  { walletId, lastSeq }: Statement,
  { after, limit }: { after: number; limit: number },
): Promise<StatementEntry[]> {
  const page = await walletJournals(walletId, { after, to: Math.min(lastSeq, after + limit) }).toArray();
  const refIdOf = await readRefIds(page);
  return page.map((journal) => ({
    seq: journal.walletSeq ?? 0,
    at: journal.createdAt,
    kind: journal.kind,
    refId: refIdOf(journal),
    subjectId: journal.subjectId,
    amount: amountOn(walletId, journal),
    balance: journal.balanceAfter ?? 0,
  }));
}

const pageSize = 1_000;

/** All entries after a `seq`, a page at a time: never more than a page in memory. */
export async function* entryPages(statement: Statement, after: number): AsyncGenerator<StatementEntry[]> {
  let at = after;
  while (at < statement.lastSeq) {
    const page = await readEntries(statement, { after: at, limit: pageSize });
    yield page;
    at = page.at(-1)?.seq ?? statement.lastSeq;
  }
}

function amountOn(walletId: string, journal: Journal): number {
  return journal.lines
    .filter(({ account }) => account === `wallet:${walletId}`)
    .reduce((sum, { amount }) => sum + amount, 0);
}

async function balanceAt(walletId: string, seq: number): Promise<number | null> {
  if (seq === 0) {
    return 0;
  }
  const journal = await journals.findOne({ ...ofWallet(walletId), walletSeq: seq });
  return journal?.balanceAfter ?? null;
}
