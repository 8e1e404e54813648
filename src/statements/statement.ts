import type { Collection, Filter } from 'mongodb';
import { asUntyped, type AnyDocument } from '../database/typed-collection.js';
import { deposits } from '../deposits/deposit.model.js';
import { type Journal, type JournalKind, journals } from '../money/journals/journal.model.js';
import { purchases } from '../purchases/purchase.model.js';
import { settlements } from '../settlements/settlement.model.js';
import { readWalletTimes, buildWalletFilter, findWalletJournals } from '../money/closes/wallet-journals.js';
import { type Period, formatIsoTime } from '../shared/business-time.js';
import { createCsvText, type CsvFormat } from '../shared/csv-text.js';

interface ReferencedDocument {
  _id: string;
  accountId: string;
  refId: string | null;
}

/**
 * Collections of the subjects of these kinds of journal. Subjects of other kinds have no client
 * reference.
 */
const sources: [Collection<AnyDocument>, JournalKind[]][] = [
  [asUntyped(purchases), ['purchase', 'refund', 'reversal']],
  [asUntyped(deposits), ['deposit']],
  [asUntyped(settlements), ['settlement-request', 'settlement-completed', 'settlement-failed']],
];

/**
 * Reads the client references of the journals' subjects with one query per collection. A reference
 * never changes.
 */
export async function readRefIds(of: readonly Journal[]): Promise<(journal: Journal) => string | null> {
  const found = await Promise.all(
    sources.map(([collection, kinds]) =>
      readRefs(
        collection,
        of.filter(({ kind }) => kinds.includes(kind)),
      ),
    ),
  );
  const byId = new Map(found.flat().map(({ _id, refId }) => [_id, refId]));
  return ({ subjectId }) => byId.get(subjectId) ?? null;
}

async function readRefs(collection: Collection<AnyDocument>, of: Journal[]): Promise<ReferencedDocument[]> {
  const filter: Filter<AnyDocument> = {
    _id: { $in: [...new Set(of.map(({ subjectId }) => subjectId))] },
    accountId: { $in: [...new Set(of.map(({ accountId }) => accountId))] },
  };
  return of.length === 0
    ? []
    : collection.find<ReferencedDocument>(filter, { projection: { refId: 1 } }).toArray();
}

/**
 * The journals of a wallet in a period. The range is fixed when the statement is opened, so later
 * journals do not change it.
 */
export interface Statement {
  walletId: string;
  period: Period;
  /** First `seq` of the statement. */
  firstSeq: number;
  /** Last `seq` of the statement. It is `firstSeq` − 1 if there are no journals. */
  lastSeq: number;
}

export interface StatementEntry {
  seq: number;
  at: Date;
  kind: JournalKind;
  /** The client's reference for the subject. Null if it has none. */
  refId: string | null;
  subjectId: string;
  /** Signed amount in rupiah. 0 if only held money moved. */
  amount: number;
  /** Balance after the entry, in rupiah. */
  balance: number;
}

/**
 * Opens a statement of the majority-committed journals of a period. Adjacent periods neither share
 * nor lose journals (decision 015).
 */
export async function openStatement(walletId: string, period: Period): Promise<Statement> {
  const times = await readWalletTimes(walletId);
  const [firstSeq, next] = await Promise.all([
    times.firstSeqAt(period.start),
    times.firstSeqAt(new Date(period.end.getTime() + 1)),
  ]);
  return { walletId, period, firstSeq, lastSeq: next - 1 };
}

/**
 * Reads the balances of a statement, in rupiah. The opening balance plus all amounts equals the
 * closing balance.
 * @returns The balances. Null if the wallet has no such journals, because the statement belongs to
 * another wallet.
 */
export async function readBalances({
  walletId,
  firstSeq,
  lastSeq,
}: Statement): Promise<{ opening: number; closing: number } | null> {
  const [opening, closing] = await Promise.all([
    readBalanceAt(walletId, firstSeq - 1),
    readBalanceAt(walletId, lastSeq),
  ]);
  return opening === null || closing === null ? null : { opening, closing };
}

/** Reads the entries after a `seq`, oldest first. */
export async function readEntries(
  { walletId, lastSeq }: Statement,
  { after, limit }: { after: number; limit: number },
): Promise<StatementEntry[]> {
  const page = await findWalletJournals(walletId, { after, to: Math.min(lastSeq, after + limit) }).toArray();
  const refIdOf = await readRefIds(page);
  return page.map((journal) => ({
    seq: journal.walletSeq ?? 0,
    at: journal.createdAt,
    kind: journal.kind,
    refId: refIdOf(journal),
    subjectId: journal.subjectId,
    amount: getWalletAmount(walletId, journal),
    balance: journal.balanceAfter ?? 0,
  }));
}

const pageSize = 1_000;

/** Yields all entries after a `seq` in pages. Holds at most one page in memory. */
export async function* readEntryPages(statement: Statement, after: number): AsyncGenerator<StatementEntry[]> {
  let at = after;
  while (at < statement.lastSeq) {
    const page = await readEntries(statement, { after: at, limit: pageSize });
    yield page;
    at = page.at(-1)?.seq ?? statement.lastSeq;
  }
}

function getWalletAmount(walletId: string, journal: Journal): number {
  return journal.lines
    .filter(({ account }) => account === `wallet:${walletId}`)
    .reduce((sum, { amount }) => sum + amount, 0);
}

async function readBalanceAt(walletId: string, seq: number): Promise<number | null> {
  if (seq === 0) {
    return 0;
  }
  const journal = await journals.findOne({ ...buildWalletFilter(walletId), walletSeq: seq });
  return journal?.balanceAfter ?? null;
}

/** A reader's position: the opened statement, and the `seq` of the last entry that was read. */
export interface StatementPosition {
  statement: Omit<Statement, 'walletId'>;
  after: number;
}

/**
 * Encodes a position for a URL. It contains no wallet id, so readers can use it only with their own
 * wallet.
 */
export function formatCursor({ statement: { period, firstSeq, lastSeq }, after }: StatementPosition): string {
  const numbers = [period.start.getTime(), period.end.getTime(), firstSeq, lastSeq, after];
  return Buffer.from(numbers.map((each) => each.toString(36)).join('.')).toString('base64url');
}

/**
 * Decodes a position.
 * @returns Null if the text is not a valid cursor.
 */
export function parseCursor(text: string): StatementPosition | null {
  const parts = Buffer.from(text, 'base64url').toString().split('.');
  const [start = -1, end = -1, firstSeq = 0, lastSeq = 0, after = -1] = parts.map((each) =>
    parseInt(each, 36),
  );
  const place = {
    statement: { period: { start: new Date(start), end: new Date(end) }, firstSeq, lastSeq },
    after,
  };
  const isWhole =
    start <= end &&
    firstSeq >= 1 &&
    firstSeq - 1 <= after &&
    after <= lastSeq &&
    Number.isSafeInteger(lastSeq);
  // Encoding the result again detects any extra content in the text.
  return isWhole && !Number.isNaN(place.statement.period.end.getTime()) && formatCursor(place) === text
    ? place
    : null;
}

/** Builds an entry in wire names, which are also the columns of the CSV. */
export function presentEntry({ at, kind, refId, subjectId, amount, balance }: StatementEntry, zone?: string) {
  return { at: formatIsoTime(at, zone), kind, ref_id: refId, subject_id: subjectId, amount, balance };
}

export const statementColumns = ['at', 'kind', 'ref_id', 'subject_id', 'amount', 'balance'] as const;

/** Yields the entries after a `seq` as CSV. Each page is read only when the consumer needs it. */
export async function* streamStatementCsv(
  statement: Statement,
  { after, format, zone }: { after: number; format?: CsvFormat | undefined; zone?: string | undefined },
): AsyncGenerator<string> {
  const text = createCsvText([...statementColumns], format);
  yield text.head;
  for await (const page of readEntryPages(statement, after)) {
    yield text.rows(page.map((each) => presentEntry(each, zone)));
  }
}
