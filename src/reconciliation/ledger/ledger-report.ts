/** What the verification of the ledger says: each rule of docs/money.md as a check, and what breaks it. */

/** Every rule that is verified, with the words an operator reads. */
export const ledgerChecks = {
  'stored-as-int64': 'Money is stored as int64, as a safe whole number',
  'journal-balances': 'Every journal sums to 0 and touches one wallet at most',
  'journal-subject': 'Every journal belongs to something that exists and calls for it',
  'wallet-sequence': 'Every wallet has one journal for each change, without gap or repeat',
  'wallet-balance': 'Every balance and every held amount is what the journals say',
  'wallet-account': 'Every account has a wallet, and every wallet an account',
  'transaction-journals': 'Every transaction has exactly the journals of its state, with its amounts',
  'transaction-state': 'Every transaction is consistent: final ones closed, open ones watched',
  attempts: 'No transaction has two open attempts, and only a success was bought, once',
  'seller-credits': 'Every sale credits its seller once, and every posting is the sum of its credits',
  quotes: 'Every paid bill was claimed by one payment, at its total',
  deposits: 'Every completed deposit was credited once, and no pending one was',
  settlements: 'Every settlement holds, pays or returns its amount once',
  'suspense-total': 'Suspense holds exactly the price of all open transactions',
  'payable-total': 'What sellers are owed is exactly their credits not yet posted',
  'unique-indexes': 'The unique indexes that guarantee all this exist',
} as const;

export type LedgerCheck = keyof typeof ledgerChecks;

export interface LedgerFinding {
  check: LedgerCheck;
  /** What it concerns, such as `transaction 01a1…`. */
  subject: string;
  message: string;
}

export interface LedgerReport {
  ok: boolean;
  durationMs: number;
  checks: { check: LedgerCheck; title: string; failures: number }[];
  /** At most `findingsKeptPerCheck` of each check; `failures` counts all. */
  findings: LedgerFinding[];
  /** How many documents of each kind were read. */
  examined: { wallets: number; journals: number; transactions: number; deposits: number };
  /** Rupiah. */
  totals: {
    suspense: number;
    openTransactions: number;
    payable: number;
    unpostedCredits: number;
    wallets: number;
  };
}

const findingsKeptPerCheck = 50;

/** Collects findings in bounded memory. */
export interface FindingLog {
  add(finding: LedgerFinding): void;
  failuresOf(check: LedgerCheck): number;
  readonly kept: LedgerFinding[];
}

export function findingLog(): FindingLog {
  const failures = new Map<LedgerCheck, number>();
  const kept: LedgerFinding[] = [];
  const failuresOf = (check: LedgerCheck) => failures.get(check) ?? 0;
  return {
    kept,
    failuresOf,
    add(finding) {
      failures.set(finding.check, failuresOf(finding.check) + 1);
      if (failuresOf(finding.check) <= findingsKeptPerCheck) {
        kept.push(finding);
      }
    },
  };
}

/** Told now and then how far a walk has come. `total` is an estimate. */
export type Progress = (step: { what: 'wallets' | 'subjects'; done: number; total: number }) => void;
