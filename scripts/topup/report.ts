import { Option, type Command } from 'commander';
import type { DayReport, NamedSum, Sum } from '../../src/doctor/build-day-report.js';
import { defineCommand, defineGroup } from './define-command.js';
import { facts, formatHeading, rupiah, table, time } from './format.js';
import { day, wholeNumber } from './options.js';
import { UsageError } from './usage-error.js';

/** `topup report daily` */
export function registerReport(program: Command): void {
  const report = defineGroup(program, 'report', 'Business reports');
  defineCommand<{ date?: string; top: number }>(report, {
    usage: 'daily',
    action: 'report.daily',
    summary: "Show a business day's sales, deposits and settlements, and the state of the ledger",
    details:
      'Purchases, deposits and settlements of the day (BUSINESS_TIMEZONE) in their current state. Default: today so far.\nSales come from the daily totals. Work for operators and the ledger show the current state.',
    examples: ['report daily', 'report daily --date 2026-11-21 --json'],
    options: [
      new Option('--date <day>', 'another day, YYYY-MM-DD').argParser(day),
      new Option('--top <n>', 'rows in each list').default(10).argParser(wholeNumber(1, 1_000)),
    ],
    async run({ options: { date, top } }) {
      const [{ buildDayReport }, { findFirstAccountDay }, { formatBusinessDay }, { now }] = await Promise.all(
        [
          import('../../src/doctor/build-day-report.js'),
          import('../../src/accounts/find-account.js'),
          import('../../src/shared/business-time.js'),
          import('../../src/shared/clock.js'),
        ],
      );
      const today = formatBusinessDay(now());
      if (date !== undefined && date > today) {
        throw new UsageError(`--date ${date} has not begun: today is ${today} (BUSINESS_TIMEZONE).`);
      }
      const first = await findFirstAccountDay();
      const found = await buildDayReport(date ?? today, { top });
      // A day before the first account was created has no sales.
      const early = first !== null && found.day < first ? [`\nThe first account here is of ${first}.`] : [];
      return { data: found, text: [textOf(found), ...early].join('\n') };
    },
  });
}

function textOf(report: DayReport): string {
  const { successRatio, ledger } = report;
  const waiting = Object.entries(report.attention).filter(([, count]) => count > 0);
  return [
    facts([
      ['day', `${report.day} (${time(report.from)} to ${time(report.to)})`],
      ['success', successRatio === null ? 'nothing is final' : `${(successRatio * 100).toFixed(2)} %`],
      ['commission', rupiah(report.commission)],
      ['last closed day', ledger.closedDay ?? 'none'],
      [
        'ledger',
        ledger.verifiedAt === null
          ? 'no scheduled verification yet'
          : `${ledger.failures === 0 ? 'ok' : `${String(ledger.failures)} ${ledger.failures === 1 ? 'error' : 'errors'}`} at ${time(ledger.verifiedAt)}`,
      ],
      [
        'waits for an operator',
        waiting.length === 0 ? 'nothing' : waiting.map(([kind, count]) => `${kind} ${count}`).join(', '),
      ],
    ]),
    ...section('Purchases', report.purchases),
    ...list('Sellers', report.sellers),
    ...list('Providers', report.providers),
    ...list('Categories', report.categories),
    ...list('Products', report.products),
    ...section('Deposits', report.deposits),
    ...section('Settlements', report.settlements),
  ].join('\n');
}

function section(title: string, sums: Record<string, Sum>): string[] {
  return list(
    title,
    Object.entries(sums).map(([name, sum]) => ({ name, ...sum })),
  );
}

function list(title: string, rows: NamedSum[]): string[] {
  const cells = rows.map(({ name, count, amount }) => [name, String(count), rupiah(amount)]);
  return [formatHeading(title), rows.length === 0 ? 'none' : table(['', 'count', 'amount'], cells, [1, 2])];
}
