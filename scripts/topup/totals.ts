import type { Command } from 'commander';
import { defineCommand, defineGroup } from './define-command.js';

/** `topup totals rebuild` */
export function registerTotals(program: Command): void {
  const totals = defineGroup(program, 'totals', 'Daily totals, which history queries read');
  defineCommand(totals, {
    usage: 'rebuild',
    action: 'totals.rebuild',
    summary: 'Rebuild the daily totals from the transactions',
    details:
      'Run it once after a change of BUSINESS_TIMEZONE, and if `ledger verify` finds that totals differ. It works day by day,\nin constant memory, while the service runs. You can stop it and run it again. After a change of BUSINESS_TIMEZONE\nlong histories are counted without totals until it ends, which is slow.',
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
        text: `${days} account days read, the totals of ${rebuilt.corrected.toLocaleString('en')} corrected.`,
      };
    },
  });
}

function showProgress(days: number): void {
  if (days % 100 === 0) {
    process.stderr.write(`\r\u001b[Kaccount days: ${days.toLocaleString('en')}\r`);
  }
}
