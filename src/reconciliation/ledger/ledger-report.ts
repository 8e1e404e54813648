/** Every rule that is verified (docs/explanation/ledger.md), with its title for operators. */
export const ledgerChecks = {
  documents: 'Every document is readable: its keys, state and fields are valid',
  'stored-as-int64': 'Money is stored as int64, as a safe whole number',
  'journal-balances': 'Every journal sums to 0 and touches one wallet at most',
  'journal-subject': 'Every journal belongs to an existing document that requires it',
  'wallet-sequence': 'Every wallet has one journal for each change, without gap or repeat',
  'wallet-balance': 'Every balance and held amount matches the journals, and no purchase overdraws a wallet',
  'wallet-account': 'Every account has a wallet, every wallet an account, and only journals of its role',
  'transaction-journals': 'Every transaction has exactly the journals of its state, with its amounts',
  'transaction-state': 'Every transaction is consistent: final ones closed, open ones watched',
  attempts: 'No transaction has two open attempts, and only a success was bought, once',
  'seller-credits': 'Every sale credits its seller once, and every posting is the sum of its credits',
  quotes: 'Every paid bill was claimed by one payment, at its total, and every claim has its payment',
  deposits: 'Every completed deposit was credited once, and no pending one was',
  settlements: 'Every settlement holds, pays or returns its amount once',
  adjustments: 'Every completed adjustment moved its amount once, and no other one did',
  'suspense-total': 'Suspense holds exactly the price of all open transactions',
  'payable-total': 'The amount owed to sellers is exactly their unposted credits',
  totals: 'The daily totals match the transactions',
  vouched:
    'Every confirmed deposit, payout, reversal and adjustment has its audit entry, and every entry its subject',
  'closed-days': 'Closed days are unchanged, and each root follows the previous one',
  audit: 'The audit log of closed days has not changed since they were closed',
  'unique-indexes': 'The unique indexes that guarantee these rules exist, with the right keys',
} as const;

export type LedgerCheck = keyof typeof ledgerChecks;

export interface LedgerFinding {
  check: LedgerCheck;
  /** Kind and id of the subject, such as `transaction 01a1…`. */
  subject: string;
  message: string;
}

/** Counts of the audit log in closed days. */
export interface AuditRead {
  entries: number;
  /**
   * Entries that were dated before the day whose close covers them. They were committed late, or
   * their writer's clock was wrong.
   */
  late: number;
  /** Ids of the first late entries. */
  lateIds: string[];
}

/** Counts of closed days. */
export interface ClosesRead {
  days: number;
  /** Number of closed journals whose hash was verified. */
  journals: number;
  audit: AuditRead;
  last: { day: string; root: string; publicKey: string | null } | null;
}

export interface LedgerReport {
  /** True if no checked rule is broken. */
  ok: boolean;
  durationMs: number;
  /** Results by rule. `failures` is null if this run did not check the rule. */
  checks: { check: LedgerCheck; title: string; failures: number | null }[];
  /** At most `findingsKeptPerCheck` findings of each check. `failures` counts all of them. */
  findings: LedgerFinding[];
  /** Number of documents read, by kind. */
  examined: {
    wallets: number;
    journals: number;
    transactions: number;
    deposits: number;
    settlements: number;
    quotes: number;
  };
  closes: ClosesRead;
  /**
   * Amounts in rupiah. Null if closed days were verified only by their hashes, which gives no sums.
   */
  totals: {
    suspense: number;
    openTransactions: number;
    payable: number;
    unpostedCredits: number;
    wallets: number;
    /** Sum of the deposits that were credited without a confirmation (DEPOSIT_MODE=instant). */
    unvouchedDeposits: number;
  } | null;
}

const findingsKeptPerCheck = 50;

/** Collects findings in bounded memory. */
export interface FindingLog {
  add(finding: LedgerFinding): void;
  failuresOf(check: LedgerCheck): number;
  /** Number of failures over all checks. */
  failures(): number;
  /** Marks a rule as not checked in this run. */
  leaveOut(check: LedgerCheck): void;
  readonly leftOut: ReadonlySet<LedgerCheck>;
  readonly findings: LedgerFinding[];
}

export function createFindingLog(): FindingLog {
  const failures = new Map<LedgerCheck, number>();
  const retained: LedgerFinding[] = [];
  const leftOut = new Set<LedgerCheck>();
  const failuresOf = (check: LedgerCheck) => failures.get(check) ?? 0;
  return {
    findings: retained,
    leftOut,
    failuresOf,
    failures: () => [...failures.values()].reduce((sum, each) => sum + each, 0),
    leaveOut: (check) => leftOut.add(check),
    add(finding) {
      failures.set(finding.check, failuresOf(finding.check) + 1);
      if (failuresOf(finding.check) <= findingsKeptPerCheck) {
        retained.push(finding);
      }
    },
  };
}

/** Called periodically with the progress of a scan. `total` is an estimate. */
export type Progress = (step: { what: 'wallets' | 'subjects'; done: number; total: number }) => void;

/** Called after each part of the work. If it throws, the verification ends with that error. */
export type OnPart = () => void;

/** The period that a run checks, for documents that are read by time. */
export interface Part {
  /** YYYY-MM-DD. Null to start at the beginning. */
  fromDay: string | null;
  onPart: OnPart;
}
