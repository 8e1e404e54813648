import type { Command } from 'commander';
import type { LedgerReport, Progress } from '../../src/reconciliation/ledger/ledger-report.js';
import { defineCommand, defineGroup } from './define-command.js';
import { colours, facts, heading, rupiah, table } from './format.js';

/** `topup ledger verify` */
export function registerLedger(program: Command): void {
  const ledger = defineGroup(program, 'ledger', 'Verify that every rupiah adds up');
  defineCommand(ledger, {
    usage: 'verify',
    summary: 'Check every money rule over the whole history',
    details:
      'Reads all wallets, journals, transactions, attempts, seller credits and deposits, in constant memory, while the\nservice works. It changes nothing. What looks wrong is read again before it counts. Exit code 1 if a rule is\nbroken: stop payouts, keep the list, and find out before anything is corrected (docs/operations.md).',
    examples: ['ledger verify', 'ledger verify --json > ledger.json'],
    async run() {
      const { verifyLedger } = await import('../../src/reconciliation/ledger/verify-ledger.js');
      const report = await verifyLedger(process.stderr.isTTY ? progressLine() : undefined);
      return { data: report, text: reportText(report), failed: !report.ok };
    },
  });
}

/** One line on the terminal that is written over; stderr, so that the report can be redirected. */
function progressLine(): Progress {
  let shownAtMs = 0;
  return ({ what, done, total }) => {
    const atMs = Date.now();
    if (atMs - shownAtMs > 100 || done === total) {
      shownAtMs = atMs;
      const share = total === 0 ? 100 : Math.min(100, Math.floor((done / total) * 100));
      const name = what === 'wallets' ? 'wallets' : 'transactions';
      process.stderr.write(
        `\r\u001b[K${name}: ${done.toLocaleString('en')} of about ${total.toLocaleString('en')} (${share} %)`,
      );
      if (done >= total) {
        process.stderr.write('\r\u001b[K');
      }
    }
  };
}

function reportText(report: LedgerReport): string {
  const { examined, totals } = report;
  const rows = report.checks.map(({ title, failures }) => [
    failures === 0 ? colours.green('ok') : colours.red('FAIL'),
    title,
    failures === 0 ? '' : `${failures} found`,
  ]);
  const findings = report.findings.map(({ check, subject, message }) => [check, subject, message]);
  return [
    table(['', 'rule', ''], rows),
    heading('Read'),
    facts([
      ['wallets', examined.wallets.toLocaleString('en')],
      ['journals', examined.journals.toLocaleString('en')],
      ['transactions', examined.transactions.toLocaleString('en')],
      ['deposits', examined.deposits.toLocaleString('en')],
      ['in wallets', rupiah(totals.wallets)],
      ['in suspense', rupiah(totals.suspense)],
      ['owed to sellers', rupiah(totals.payable)],
      ['time', `${(report.durationMs / 1_000).toFixed(1)} s`],
    ]),
    ...(findings.length > 0 ? [heading('Found'), table(['rule', 'where', 'what'], findings)] : []),
    '',
    report.ok
      ? colours.green('Every rule holds.')
      : colours.red('The ledger is NOT consistent. Nothing was changed; see docs/operations.md, "Ledger".'),
  ].join('\n');
}
