import { readFileSync, writeFileSync } from 'node:fs';
import { InvalidArgumentError, Option, type Command } from 'commander';
import type { DateOrder } from '../../src/reconciliation/record/record-time.js';
import { defineCommand } from './define-command.js';
import { facts, table } from './format.js';

interface ReconcileOptions {
  provider: string;
  date: string;
  file?: string;
  dateOrder?: DateOrder;
  csv?: string;
}

/** `topup reconcile`: a provider's own record against ours. */
export function registerReconcile(program: Command): void {
  defineCommand<ReconcileOptions>(program, {
    usage: 'reconcile',
    action: 'provider.reconcile',
    summary: "Compare a provider's own record with ours for a day",
    details:
      'The record is fetched from the simulator. For other providers give the file that their member area exports, as CSV\nwith the columns ref_id, at, status and optionally sn. Times without a zone are in BUSINESS_TIMEZONE. In 05/11/2026\nthe day comes first, unless --date-order says otherwise. Exit code 1 if something differs.\nThe result is stored like that of the scheduled run (topup doctor).\n\nonly-provider  executed there, not sold by us: we may owe a delivery or be charged twice\nonly-ours      sold by us, not in their record: was it delivered?\ndiffers        in both, with another result or serial number',
    examples: [
      'reconcile --provider grosir --date 2026-11-21',
      'reconcile --provider grosir --date 2026-11-21 --file record.csv --csv differences.csv',
    ],
    options: [
      new Option('--provider <seller>', 'seller of the provider').makeOptionMandatory(),
      new Option('--date <day>', 'YYYY-MM-DD in business time').argParser(day).makeOptionMandatory(),
      new Option('--file <path>', "the provider's record as CSV"),
      new Option('--date-order <order>', 'order of the dates in the file').choices([
        'day-first',
        'month-first',
        'year-first',
      ]),
      new Option('--csv <path>', 'write the differences to this file'),
    ],
    async run({ options, by }) {
      const [{ requireAccount }, { reconcileDay }] = await Promise.all([
        import('../../src/accounts/find-account.js'),
        import('../../src/reconciliation/reconcile-day.js'),
      ]);
      const seller = await requireAccount(options.provider);
      const csv = options.file === undefined ? null : readFileSync(options.file, 'utf8');
      const exported = options.csv !== undefined;
      const { date, dateOrder } = options;
      const found = await reconcileDay(seller, { date, csv, dateOrder, exported }, by);
      if (options.csv) {
        await writeCsv(options.csv, found.differences);
      }
      const counts = facts([
        ['day', found.date],
        ['ours', String(found.ours)],
        ['theirs', String(found.theirs)],
        ['rows of other days', String(found.otherDays)],
        ['matched', String(found.matched)],
        ['different', String(found.differences.length)],
      ]);
      const rows = found.differences.map((each) => [
        each.kind,
        each.providerRef,
        each.ours ?? '-',
        each.theirs ?? '-',
      ]);
      return {
        data: found,
        text:
          rows.length === 0 ? counts : `${counts}\n\n${table(['what', 'reference', 'ours', 'theirs'], rows)}`,
        failed: rows.length > 0,
      };
    },
  });
}

function day(value: string): string {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(value)) {
    throw new InvalidArgumentError('The value must be a day as YYYY-MM-DD.');
  }
  return value;
}

async function writeCsv(
  path: string,
  differences: { kind: string; providerRef: string; ours: string | null; theirs: string | null }[],
) {
  const { stringify } = await import('csv-stringify/sync');
  const columns = { kind: 'what', providerRef: 'reference', ours: 'ours', theirs: 'theirs' };
  writeFileSync(path, stringify(differences, { header: true, columns, escape_formulas: true }));
}
