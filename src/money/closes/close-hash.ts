/** Hashes of the daily close. Any change to the hashing needs a new version prefix. */
import { lookUp } from '../../shared/collections.js';
import { createHash } from 'node:crypto';
import { Long } from 'mongodb';
import type { Journal, JournalLine } from '../journals/journal.model.js';
import { toCanonicalText } from './canonical-text.js';
import type { DayClose, DayRoot } from './day-close.model.js';
import type { LedgerSums, WalletClose } from './wallet-close.model.js';

const version = 'close-1';
/** Version of roots that cover the audit log. */
const versionWithAudit = 'close-2';

/** Returns the text of a journal for hashing. Its money must be read with `exactReadOptions`. */
export function toJournalText(journal: Journal): string {
  return toCanonicalText([
    journal._id,
    journal.kind,
    journal.subjectId,
    journal.walletId,
    journal.walletSeq,
    journal.balanceAfter,
    // Malformed lines stay in the text, so that a malformed line changes the hash.
    toLineList(journal).map((line) => (isLine(line) ? [line.account, line.amount] : String(line))),
    journal.createdAt,
  ]);
}

/** The two digests of one wallet on one day. Add journals in the order of `seq`. */
export interface DayDigest {
  add(journal: Journal, subjectText: string): void;
  hashes(): Pick<WalletClose, 'journalsHash' | 'subjectsHash'>;
}

export function createDayDigest(): DayDigest {
  const journals = createHash('sha256');
  const subjects = createHash('sha256');
  return {
    add(journal, subjectText) {
      journals.update(`${toJournalText(journal)}\n`);
      subjects.update(`${subjectText}\n`);
    },
    hashes: () => ({ journalsHash: journals.digest('hex'), subjectsHash: subjects.digest('hex') }),
  };
}

/** Computes the `hash` field of a row from its other fields. */
export function hashRow(row: Omit<WalletClose, '_id' | 'hash' | 'newest'>): string {
  return sha256([
    version,
    row.day,
    row.walletId,
    row.firstSeq,
    row.lastSeq,
    row.balance,
    row.held,
    sortSums(row.sums),
    row.journalsHash,
    row.subjectsHash,
    row.previous,
  ]);
}

/** Computes the root of a day from the day and its content. */
export function computeRoot(day: DayClose['_id'], content: DayRoot): string {
  const { audit } = content;
  return sha256([
    audit ? versionWithAudit : version,
    day,
    content.wallets,
    content.journals,
    sortSums(content.totals),
    content.walletsHash,
    content.previous,
    content.closedAt.toISOString(),
    ...(audit ? [audit.entries, audit.hash] : []),
  ]);
}

/** Creates the digest of a day's rows. Add the hashes of the rows in the order of their wallets. */
export function createWalletsDigest(): { add(hash: string): void; hash(): string } {
  const digest = createHash('sha256');
  return {
    add: (hash) => digest.update(`${hash}\n`),
    hash: () => digest.digest('hex'),
  };
}

export function addSums(first: LedgerSums, second: LedgerSums): LedgerSums {
  const sums = { ...first };
  for (const [name, amount] of Object.entries(second)) {
    sums[name] = (lookUp(sums, name) ?? 0) + amount;
  }
  return sums;
}

/**
 * Returns the well-formed lines of a journal. Malformed lines count as no movement in the close;
 * the ledger verification reports them.
 */
export function getLines(journal: Journal): JournalLine[] {
  return toLineList(journal).filter(isLine);
}

function toLineList({ lines }: { lines: unknown }): unknown[] {
  return Array.isArray(lines) ? lines : [lines];
}

function isLine(line: unknown): line is JournalLine {
  return typeof (line as JournalLine | null | undefined)?.account === 'string';
}

export function addLines(sums: LedgerSums, lines: readonly JournalLine[]): void {
  for (const { account, amount } of lines) {
    const name = account.replace(/^(wallet|held|payable):.*$/, '$1');
    sums[name] = (lookUp(sums, name) ?? 0) + toPlainNumber(amount);
  }
}

function sortSums(sums: LedgerSums): [string, number][] {
  return Object.entries(sums).sort(([first], [second]) => (first < second ? -1 : 1));
}

/** Returns the SHA-256 of a text in lower-case hex. */
export function hashText(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** Hashes the JSON of the values. */
function sha256(values: (string | number | null | [string, number][])[]): string {
  return hashText(JSON.stringify(values));
}

/** Converts a number that was read with `exactReadOptions` to a JavaScript number. */
export function toPlainNumber(value: number | null): number {
  return Long.isLong(value) ? value.toNumber() : Number(value);
}
