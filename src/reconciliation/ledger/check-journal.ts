import type { JournalLine, LedgerAccount } from '../../money/journals/journal.model.js';
import { findJournalRule } from './journal-rules.js';
import type { LedgerFinding } from './ledger-report.js';
import type { ReadJournal } from './stored.js';

/** The sum of a journal's lines by account, without those that come to 0. */
export function getNet(lines: readonly JournalLine[]): Map<LedgerAccount, number> {
  const net = new Map<LedgerAccount, number>();
  for (const { account, amount } of lines) {
    net.set(account, (net.get(account) ?? 0) + amount);
  }
  return new Map([...net].filter(([, amount]) => amount !== 0));
}

/** docs/explanation/ledger.md#rules, 1 and 2: the lines sum to 0, and only the wallet that the journal names is touched. */
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
    problems.push('it names a wallet without a sequence number, or the reverse');
  }
  if (journal.walletId !== null && journal.walletId !== journal.accountId) {
    problems.push(`it is of account ${journal.accountId} and names wallet ${journal.walletId}`);
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
          message: `no rule knows the kind "${journal.kind}", nothing calls for it`,
        },
      ];
  return [
    ...unknown,
    ...problems.map((message) => ({ check: 'journal-balances' as const, subject, message })),
  ];
}

/** Compares what a journal moved with what it had to move. */
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
