import type { Command } from 'commander';
import { defineCommand, defineGroup } from './define-command.js';

/** `topup totals rebuild` */
export function registerTotals(program: Command): void {
  const totals = defineGroup(program, 'totals', 'The daily totals that history is read by');
  defineCommand(totals, {
    usage: 'rebuild',
    action: 'totals.rebuild',
    summary: 'Rebuild the daily totals from the transactions',
    details:
      'Once after another BUSINESS_TIMEZONE, and where `ledger verify` says that totals differ. Day by day, in constant\nmemory, while the service works. Safe to break off and to run again. After another BUSINESS_TIMEZONE long histories\nare counted until it has ended, which is slow.',
    examples: ['totals rebuild'],
    async run({ by }) {
      const [{ recordAudit }, { rebuildTotals }] = await Promise.all([
        import('../../src/audit/record-audit.js'),
        import('../../src/purchases/rebuild-totals.js'),
      ]);
      await recordAudit(null, { ...by, action: 'totals.rebuild', subject: { kind: 'ledger', id: 'totals' } });
      const rebuilt = await rebuildTotals(process.stderr.isTTY ? showProgress : undefined);
      const days = rebuilt.days.toLocaleString('en');
      return {
        data: rebuilt,
        text: `${days} days of accounts read, the totals of ${rebuilt.corrected.toLocaleString('en')} corrected.`,
      };
    },
  });
}

function showProgress(days: number): void {
  if (days % 100 === 0) {
    process.stderr.write(`\r\u001b[Kdays of accounts: ${days.toLocaleString('en')}\r`);
  }
}
