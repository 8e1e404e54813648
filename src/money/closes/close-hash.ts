/** What the hashes of a close are made of. Version 1: another way of hashing needs another number in front. */
import { lookUp } from '../../shared/collections.js';
import { createHash } from 'node:crypto';
import { Long } from 'mongodb';
import type { Journal, JournalLine } from '../journals/journal.model.js';
import { toCanonicalText } from './canonical-text.js';
import type { DayClose, DayRoot } from './day-close.model.js';
import type { LedgerSums, WalletClose } from './wallet-close.model.js';

const version = 'close-1';
/** Of roots that stand for the audit log too. */
const versionWithAudit = 'close-2';

/** A journal as it is hashed. Its money must have been read with `exactRead`. */
export function toJournalText(journal: Journal): string {
  return toCanonicalText([
    journal._id,
    journal.kind,
    journal.subjectId,
    journal.walletId,
    journal.walletSeq,
    journal.balanceAfter,
    // What is no line stays in the text: with it the journal is another one.
    toLineList(journal).map((line) => (isLine(line) ? [line.account, line.amount] : String(line))),
    journal.createdAt,
  ]);
}

/** The two digests of a wallet's day, fed journal by journal in the order of `seq`. */
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

/** `hash` of a row, by its other fields. */
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

/** `root` of a day, by its content. */
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

/** The digest of a day's rows, fed by their hashes in the order of their wallets. */
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

/** Adds what journals moved to `sums`. */
/** Of what was changed by hand as well: what cannot be read is named by the verification, and moves nothing here. */
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

/** SHA-256 of a text, lower-case hex. */
export function hashText(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** Over text and whole numbers, which are written as they are. */
function sha256(values: (string | number | null | [string, number][])[]): string {
  return hashText(JSON.stringify(values));
}

/** A number that was read exactly. */
export function toPlainNumber(value: number | null): number {
  return Long.isLong(value) ? value.toNumber() : Number(value);
}
