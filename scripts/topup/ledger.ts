import { Option, type Command } from 'commander';
import type { ClosedDay } from '../../src/money/closes/day-closes.js';
import type { LedgerReport, Progress } from '../../src/reconciliation/ledger/ledger-report.js';
import { defineCommand, defineGroup } from './define-command.js';
import { colours, facts, formatHeading, rupiah, table } from './format.js';
import { day } from './options.js';

/** `topup ledger …`: verifies the ledger and closes days. */
export function registerLedger(program: Command): void {
  const ledger = defineGroup(program, 'ledger', 'Verify the ledger and close days');
  registerVerify(ledger);
  registerClose(ledger);
}

function registerVerify(ledger: Command): void {
  defineCommand<{ full?: boolean; root?: string; key?: string }>(ledger, {
    usage: 'verify',
    action: 'ledger.verify',
    summary: 'Check every money rule',
    details:
      'Checks closed days by their hashes and every rule over the rest; --full checks every rule over the whole history.\nIt runs in constant memory while the service works, and changes nothing. Each finding is read again before it is\nreported. Exit code 1 if a rule is broken: stop payouts, keep the list, and find the cause before you correct\nanything (docs/guides/operate/verify-the-ledger.md).',
    examples: ['ledger verify', 'ledger verify --full --json > ledger.json'],
    options: [
      new Option('--full', 'also check closed days by every rule'),
      new Option('--root <root>', 'root of a closed day, kept outside the database, that must still exist'),
      new Option('--key <key>', 'public key that must have signed every closed day'),
    ],
    async run({ options: { full, root, key } }) {
      const { verifyLedger } = await import('../../src/reconciliation/ledger/verify-ledger.js');
      const progress = process.stderr.isTTY ? progressLine() : undefined;
      const report = await verifyLedger(progress, { full, root, publicKey: key });
      return { data: report, text: formatReport(report), failed: !report.ok };
    },
  });
}

function registerClose(ledger: Command): void {
  defineCommand<{ date?: string }>(ledger, {
    usage: 'close',
    action: 'ledger.close',
    summary: 'Close past days and print the last root',
    details:
      'Follow-up processes do this every day. Use the command to close days now, and to get the root. Keep the root outside\nthe database: `topup ledger verify --root` later proves that nothing before it was changed. Days are signed if\nthis process has LEDGER_CLOSE_KEY.',
    examples: ['ledger close', 'ledger close --date 2024-03-01'],
    options: [new Option('--date <day>', 'last day to close, YYYY-MM-DD').argParser(day)],
    async run({ options: { date }, by }) {
      const [{ recordAudit }, { closeLedger }, { findLastClosedDay }] = await Promise.all([
        import('../../src/audit/record-audit.js'),
        import('../../src/reconciliation/closes/close-ledger.js'),
        import('../../src/money/closes/day-closes.js'),
      ]);
      const closed = await closeLedger(date);
      for (const { _id, root } of closed) {
        const subject = { kind: 'ledger' as const, id: _id };
        await recordAudit(null, { ...by, action: 'ledger.close', subject, after: { root } });
      }
      const last = await findLastClosedDay();
      const data = { closed: closed.map(presentDay), last: last && presentDay(last) };
      return { data, text: formatCloses(closed.map(presentDay), data.last) };
    },
  });
}

function presentDay({ _id, root, signature, content }: ClosedDay) {
  return {
    day: _id,
    root,
    signature: signature?.value ?? null,
    public_key: signature?.publicKey ?? null,
    wallets: content.wallets,
    journals: content.journals,
    totals: content.totals,
    audit_entries: content.audit?.entries ?? null,
    closed_at: content.closedAt,
  };
}

type ShownDay = ReturnType<typeof presentDay>;

function formatCloses(closed: ShownDay[], last: ShownDay | null): string {
  const head = ['day', 'wallets', 'journals', 'root'];
  const cells = closed.map(({ day, wallets, journals, root }) => [day, `${wallets}`, `${journals}`, root]);
  return [
    closed.length === 0 ? 'There was no day to close.' : table(head, cells, [1, 2]),
    ...(last
      ? [
          formatHeading('Keep this outside the database'),
          facts([
            ['day', last.day],
            ['root', last.root],
            ['signature', last.signature],
            ['public key', last.public_key ?? 'none: not signed, LEDGER_CLOSE_KEY is not set'],
          ]),
        ]
      : []),
  ].join('\n');
}

/** Returns a reporter that overwrites one line on stderr, so that stdout can be redirected. */
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

/** Returns a line only if the amount is above zero. In production it is always zero. */
function formatUnvouched(amount: number): [string, string][] {
  return amount > 0 ? [['credited without confirmation', rupiah(amount)]] : [];
}

function formatReport(report: LedgerReport): string {
  const { examined, totals } = report;
  const rows = report.checks.map(({ title, failures }) => [
    failures === null ? colours.yellow('–') : failures === 0 ? colours.green('ok') : colours.red('FAIL'),
    title,
    failures === null ? 'not checked' : failures === 0 ? '' : `${failures} found`,
  ]);
  const isLeftOut = report.checks.some(({ failures }) => failures === null);
  const findings = report.findings.map(({ check, subject, message }) => [check, subject, message]);
  return [
    table(['', 'rule', ''], rows),
    formatHeading('Read'),
    facts([
      ['wallets', examined.wallets.toLocaleString('en')],
      ['journals', examined.journals.toLocaleString('en')],
      ['transactions', examined.transactions.toLocaleString('en')],
      ['deposits', examined.deposits.toLocaleString('en')],
      ['settlements', examined.settlements.toLocaleString('en')],
      ['quotes', examined.quotes.toLocaleString('en')],
      ['closed days', formatClosedDays(report.closes)],
      ['closed audit log', formatAudit(report.closes.audit)],
      ...(totals
        ? ([
            ['in wallets', rupiah(totals.wallets)],
            ['in suspense', rupiah(totals.suspense)],
            ['owed to sellers', rupiah(totals.payable)],
            ...formatUnvouched(totals.unvouchedDeposits),
          ] satisfies [string, string][])
        : []),
      ['time', `${(report.durationMs / 1_000).toFixed(1)} s`],
    ]),
    ...(findings.length > 0 ? [formatHeading('Found'), table(['rule', 'where', 'what'], findings)] : []),
    '',
    report.ok
      ? colours.green(
          isLeftOut
            ? `Every rule that was checked holds${totals ? '.' : '; closed days by their hashes (--full for all).'}`
            : 'Every rule holds.',
        )
      : colours.red(
          'The ledger is NOT consistent. Nothing was changed; see docs/guides/operate/verify-the-ledger.md.',
        ),
  ].join('\n');
}

/**
 * Describes the audit log. Late entries are named, because an entry forged for a past day looks
 * like a late one.
 */
function formatAudit({ entries, late, lateIds }: LedgerReport['closes']['audit']): string {
  const named = lateIds.join(', ') + (late > lateIds.length ? ' …' : '');
  return `${entries.toLocaleString('en')} entries${late > 0 ? `, ${late.toLocaleString('en')} of them late: ${named}` : ''}`;
}

function formatClosedDays({ days, journals, last }: LedgerReport['closes']): string {
  return last
    ? `${days}, ${journals.toLocaleString('en')} journals, the last ${last.day} ${last.root} ${last.publicKey ? `signed with ${last.publicKey}` : 'not signed'}`
    : 'none';
}
