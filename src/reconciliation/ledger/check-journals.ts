import type { Role } from '../../accounts/account.model.js';
import type { JournalKind, JournalLine, LedgerAccount } from '../../money/journals/journal.model.js';
import type { LedgerFinding } from './ledger-report.js';
import type { ReadJournal, ReadWallet } from './stored-documents.js';

/** Rules for every journal of a kind, whatever its amounts. */
export interface JournalRule {
  /** The kind of document that must exist under the journal's `subjectId`. */
  subject: 'transaction' | 'deposit' | 'settlement' | 'posting' | 'adjustment';
  /** Role of the wallet's account. Null if the journal changes no wallet. */
  wallet: Role | 'any' | null;
  /**
   * True if the journal may overdraw the wallet. Only the posting of a reversal may (decision 007).
   */
  mayOverdraw: boolean;
}

/** A new kind of journal needs a row here, and a check of its amounts with its subject. */
const rules: Record<JournalKind, JournalRule> = {
  deposit: { subject: 'deposit', wallet: 'buyer', mayOverdraw: false },
  purchase: { subject: 'transaction', wallet: 'buyer', mayOverdraw: false },
  success: { subject: 'transaction', wallet: null, mayOverdraw: false },
  refund: { subject: 'transaction', wallet: 'buyer', mayOverdraw: false },
  reversal: { subject: 'transaction', wallet: 'buyer', mayOverdraw: false },
  'seller-posting': { subject: 'posting', wallet: 'seller', mayOverdraw: true },
  'settlement-request': { subject: 'settlement', wallet: 'seller', mayOverdraw: false },
  'settlement-completed': { subject: 'settlement', wallet: 'seller', mayOverdraw: false },
  'settlement-failed': { subject: 'settlement', wallet: 'seller', mayOverdraw: false },
  adjustment: { subject: 'adjustment', wallet: 'any', mayOverdraw: false },
};

/** Returns the rule for a kind of journal. Undefined if the kind is unknown. */
export function findJournalRule(kind: string): JournalRule | undefined {
  return Object.hasOwn(rules, kind) ? rules[kind as JournalKind] : undefined;
}

/** Sums a journal's lines by account, without accounts that sum to 0. */
export function getNet(lines: readonly JournalLine[]): Map<LedgerAccount, number> {
  const net = new Map<LedgerAccount, number>();
  for (const { account, amount } of lines) {
    net.set(account, (net.get(account) ?? 0) + amount);
  }
  return new Map([...net].filter(([, amount]) => amount !== 0));
}

/**
 * Checks rules 1 and 2 of docs/explanation/ledger.md#rules: the lines sum to 0, and only the named
 * wallet is touched.
 */
export function checkJournal(journal: ReadJournal): LedgerFinding[] {
  const subject = `journal ${journal.kind} of ${journal.subjectId}`;
  const problems: string[] = journal.lines.length === 0 ? ['it has no lines'] : [];
  const sum = journal.lines.reduce((total, line) => total + line.amount, 0);
  if (sum !== 0) {
    problems.push(`its lines sum to ${sum}, not to 0`);
  }
  const strangers = journal.lines
    .map((line) => getWalletId(line.account))
    .filter((walletId) => walletId !== null && walletId !== journal.walletId);
  if (strangers.length > 0) {
    problems.push(`it moves money of wallet ${strangers.join(', ')} but names ${journal.walletId ?? 'none'}`);
  }
  if ((journal.walletId === null) !== (journal.walletSeq === null)) {
    problems.push('it has a wallet without a sequence number, or a sequence number without a wallet');
  }
  if (journal.walletId !== null && journal.walletId !== journal.accountId) {
    problems.push(`its account is ${journal.accountId}, but its wallet is ${journal.walletId}`);
  }
  const rule = findJournalRule(journal.kind);
  if (rule && (rule.wallet === null) !== (journal.walletId === null)) {
    problems.push(
      `it names ${journal.walletId ?? 'no wallet'}, and must name ${rule.wallet ? `that of a ${rule.wallet}` : 'no wallet'}`,
    );
  }
  const unknown: LedgerFinding[] = rule
    ? []
    : [
        {
          check: 'journal-subject',
          subject,
          message: `the kind "${journal.kind}" is unknown`,
        },
      ];
  return [
    ...unknown,
    ...problems.map((message) => ({ check: 'journal-balances' as const, subject, message })),
  ];
}

/** Compares a journal's lines with the expected lines. */
export function checkMovement(
  journal: ReadJournal,
  expected: readonly JournalLine[],
  finding: Pick<LedgerFinding, 'check' | 'subject'>,
): LedgerFinding[] {
  const actual = getNet(journal.lines);
  const wanted = getNet(expected);
  const accounts = new Set([...actual.keys(), ...wanted.keys()]);
  return [...accounts]
    .filter((account) => (actual.get(account) ?? 0) !== (wanted.get(account) ?? 0))
    .map((account) => ({
      ...finding,
      message: `journal ${journal.kind} moves ${actual.get(account) ?? 0} on ${account}, expected ${wanted.get(account) ?? 0}`,
    }));
}

function getWalletId(account: LedgerAccount): string | null {
  return /^(?:wallet|held):(.*)$/.exec(account)?.[1] ?? null;
}

/** The state of a wallet after a journal. The fields are named as in a wallet. */
export interface WalletState {
  seq: number;
  balance: number;
  held: number;
}

/** Checks one journal against the wallet's state before it. */
export function checkStep(
  { id, role }: { id: string; role: Role | null },
  journal: ReadJournal,
  before: WalletState,
): LedgerFinding[] {
  const findings: LedgerFinding[] = [];
  const what = `${journal.kind} of ${journal.subjectId}`;
  if (journal.walletSeq !== before.seq + 1) {
    findings.push(
      buildWalletFinding(
        'wallet-sequence',
        id,
        `after journal ${before.seq} comes ${journal.walletSeq ?? 'none'} (${what})`,
      ),
    );
  }
  const { balance, held } = getStateAfter(id, journal, before);
  const rule = findJournalRule(journal.kind);
  if (balance < 0 && balance < before.balance && !rule?.mayOverdraw) {
    findings.push(
      buildWalletFinding(
        'wallet-balance',
        id,
        `journal ${journal.walletSeq ?? 0} (${what}) takes it below zero, to ${balance}`,
      ),
    );
  }
  if (held < 0 && held < before.held) {
    findings.push(
      buildWalletFinding(
        'wallet-balance',
        id,
        `journal ${journal.walletSeq ?? 0} (${what}) releases more than is held`,
      ),
    );
  }
  if (role !== null && rule && rule.wallet !== null && rule.wallet !== 'any' && rule.wallet !== role) {
    findings.push(
      buildWalletFinding(
        'wallet-account',
        id,
        `it belongs to a ${role}, but only a ${rule.wallet} may have a journal ${journal.kind} (${what})`,
      ),
    );
  }
  if (journal.balanceAfter !== balance) {
    const claim = `journal ${journal.walletSeq ?? 0} (${what}) has balance ${journal.balanceAfter ?? 'none'}`;
    findings.push(buildWalletFinding('wallet-balance', id, `${claim}, its lines make ${balance}`));
  }
  return findings;
}

export function getStateAfter(id: string, journal: ReadJournal, before: WalletState): WalletState {
  const net = getNet(journal.lines);
  return {
    seq: Number.isSafeInteger(journal.walletSeq) ? (journal.walletSeq ?? 0) : before.seq + 1,
    balance: before.balance + (net.get(`wallet:${id}`) ?? 0),
    held: before.held + (net.get(`held:${id}`) ?? 0),
  };
}

export function compareWallet(
  id: string,
  wallet: ReadWallet,
  journal: { atWallet: WalletState | null; last: number },
): LedgerFinding[] {
  if (!journal.atWallet) {
    return [
      buildWalletFinding(
        'wallet-sequence',
        id,
        `its seq is ${wallet.seq}, its journals end at ${journal.last}`,
      ),
    ];
  }
  const { balance, held } = journal.atWallet;
  return [
    ...(balance === wallet.balance
      ? []
      : [
          buildWalletFinding(
            'wallet-balance',
            id,
            `its balance is ${wallet.balance}, its journals make ${balance}`,
          ),
        ]),
    ...(held === wallet.held
      ? []
      : [buildWalletFinding('wallet-balance', id, `it holds ${wallet.held}, its journals make ${held}`)]),
  ];
}

export function buildWalletFinding(
  check: LedgerFinding['check'],
  walletId: string,
  message: string,
): LedgerFinding {
  return { check, subject: `wallet ${walletId}`, message };
}
