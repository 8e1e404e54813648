import { Long } from 'mongodb';
import {
  addLines,
  createDayDigest,
  getLines,
  toPlainNumber,
  hashRow,
} from '../../money/closes/close-hash.js';
import type { LedgerSums, WalletClose } from '../../money/closes/wallet-close.model.js';
import type { Journal } from '../../money/journals/journal.model.js';
import { formatBusinessDay } from '../../shared/business-time.js';
import type { LedgerFinding } from './ledger-report.js';

/** The state of a wallet after a journal. Amounts are in rupiah. */
export interface WalletState {
  seq: number;
  balance: number;
  held: number;
}

/** Compares a wallet's journals with its closed days, and sums up later journals. */
export interface ClosedWallet {
  /** State after the last closed journal. All fields are 0 if no journal is closed. */
  readonly closed: WalletState;
  /**
   * Accepts the next journal, in the order of `seq`.
   * @returns True if the journal belongs to a closed day.
   */
  take(journal: Journal, subjectText: string): boolean;
  /** Returns findings, the number of closed journals, and the state after the last journal. */
  end(): { findings: LedgerFinding[]; journals: number; standing: WalletState; isGapless: boolean };
}

/** @param rows The wallet's closes, in the order of their days. */
export function createClosedWallet(walletId: string, rows: readonly WalletClose[]): ClosedWallet {
  const last = rows.at(-1);
  const findings: LedgerFinding[] = [];
  const closed = { seq: last?.lastSeq ?? 0, balance: last?.balance ?? 0, held: last?.held ?? 0 };
  const standing = { ...closed };
  let isGapless = true;
  let at = 0;
  let digest = createDayDigest();
  let count = 0;
  let journals = 0;

  function finishRow(row: WalletClose): void {
    const problems = findProblems(row, { previous: rows[at - 1] ?? null, count, ...digest.hashes() });
    findings.push(...problems.map((message) => buildFinding(walletId, row.day, message)));
    journals += count;
    at += 1;
    count = 0;
    digest = createDayDigest();
  }

  return {
    closed,
    take(journal, subjectText) {
      const seq = toPlainNumber(journal.walletSeq);
      if (!Long.isLong(journal.walletSeq) || !(seq >= 1)) {
        const what = `${journal.kind} of ${journal.subjectId}`;
        findings.push(
          buildFinding(
            walletId,
            formatBusinessDay(journal.createdAt),
            `it has a journal without a place: ${what}`,
          ),
        );
        return false;
      }
      for (let row = rows[at]; row && seq > row.lastSeq; row = rows[at]) {
        finishRow(row);
      }
      if (rows[at]) {
        digest.add(journal, subjectText);
        count += 1;
        return true;
      }
      isGapless &&= seq === standing.seq + 1;
      applyJournal(standing, walletId, journal);
      isGapless &&= standing.balance === toPlainNumber(journal.balanceAfter);
      return false;
    },
    end() {
      for (let row = rows[at]; row; row = rows[at]) {
        finishRow(row);
      }
      return { findings, journals, standing, isGapless };
    },
  };
}

/** Updates `standing` to the state after the journal. */
export function applyJournal(standing: WalletState, walletId: string, journal: Journal): void {
  const sums: LedgerSums = {};
  addLines(
    sums,
    getLines(journal).filter(
      ({ account }) => account === `wallet:${walletId}` || account === `held:${walletId}`,
    ),
  );
  standing.seq = toPlainNumber(journal.walletSeq);
  standing.balance += sums['wallet'] ?? 0;
  standing.held += sums['held'] ?? 0;
}

function findProblems(
  row: WalletClose,
  found: { previous: WalletClose | null; count: number; journalsHash: string; subjectsHash: string },
): string[] {
  const problems: string[] = [];
  const count = row.lastSeq - row.firstSeq + 1;
  if (found.count !== count) {
    problems.push(`${count} journals were closed, but ${found.count} exist`);
  } else if (found.journalsHash !== row.journalsHash) {
    problems.push('a journal has changed since it was closed');
  }
  if (found.subjectsHash !== row.subjectsHash && found.count === count) {
    problems.push(
      'a subject of its journals (purchase, quote, sale, deposit, settlement) has changed since it was closed',
    );
  }
  if (hashRow(row) !== row.hash) {
    problems.push('its close was changed');
  }
  if (row.previous !== (found.previous?.hash ?? null)) {
    problems.push('its close does not follow the previous one, which was changed or is missing');
  }
  return problems;
}

function buildFinding(walletId: string, day: string, message: string): LedgerFinding {
  return { check: 'closed-days', subject: `wallet ${walletId} on ${day}`, message };
}
