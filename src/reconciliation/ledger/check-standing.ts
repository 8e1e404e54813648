import type { Role } from '../../accounts/account.model.js';
import { getNet } from './check-journal.js';
import { findJournalRule } from './journal-rules.js';
import type { LedgerFinding } from './ledger-report.js';
import type { ReadJournal, ReadWallet } from './stored.js';

/** A wallet as its journals up to one leave it; the same fields as the wallet has. */
export interface Standing {
  seq: number;
  balance: number;
  held: number;
}

/** One journal against the wallet as the journals before it left it. */
export function checkStep(
  { id, role }: { id: string; role: Role | null },
  journal: ReadJournal,
  before: Standing,
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
  const { balance, held } = getStandingAfter(id, journal, before);
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
        `it is a ${role}'s, and only a ${rule.wallet} has a journal ${journal.kind} (${what})`,
      ),
    );
  }
  if (journal.balanceAfter !== balance) {
    const says = `journal ${journal.walletSeq ?? 0} (${what}) says balance ${journal.balanceAfter ?? 'none'}`;
    findings.push(buildWalletFinding('wallet-balance', id, `${says}, its lines make ${balance}`));
  }
  return findings;
}

export function getStandingAfter(id: string, journal: ReadJournal, before: Standing): Standing {
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
  journal: { atWallet: Standing | null; last: number },
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
