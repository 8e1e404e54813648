import { pipeline } from 'node:stream/promises';
import { Option, type Command } from 'commander';
import type { Statement } from '../../src/statements/statement.js';
import { defineCommand } from './define-command.js';
import { facts, rupiah, table, time } from './format.js';
import { day, limitOption } from './options.js';

interface Options {
  from?: string;
  to?: string;
  csv?: boolean;
  csvExcel?: boolean;
  limit: number;
}

/** `topup statement`: all movements of an account's wallet. */
export function registerStatement(program: Command): void {
  defineCommand<Options>(program, {
    usage: 'statement <username>',
    action: 'statement.export',
    summary: 'Print every movement of a wallet, with the balance before and after',
    details: 'The same as GET /api/<role>/statement of the account. Default: the last 30 days.',
    examples: [
      'statement warung-sari --from 2024-03-01 --to 2024-03-31',
      'statement warung-sari --csv > march.csv',
    ],
    options: [
      new Option('--from <day>', 'first day, YYYY-MM-DD').argParser(day),
      new Option('--to <day>', 'last day, YYYY-MM-DD').argParser(day),
      new Option('--csv', 'print all movements as CSV').conflicts('json'),
      new Option('--csv-excel', 'the same, with text that Excel does not convert').conflicts(['json', 'csv']),
      limitOption(100),
    ],
    async run({ arg, options: { from, to, csv, csvExcel, limit }, by }) {
      const [{ requireAccount }, { recordAudit }, { parsePeriod }, { openStatement }] = await Promise.all([
        import('../../src/accounts/find-account.js'),
        import('../../src/audit/record-audit.js'),
        import('../../src/shared/business-time.js'),
        import('../../src/statements/statement.js'),
      ]);
      const account = await requireAccount(arg('username'));
      const period = parsePeriod(from, to);
      const subject = { kind: 'account' as const, id: account._id };
      const format = csvExcel ? 'csv-excel' : csv ? 'csv' : null;
      const what = { ...period, format: format ?? 'page' };
      await recordAudit(null, { ...by, action: 'statement.export', subject, after: what });
      const statement = await openStatement(account._id, period);
      const after = statement.firstSeq - 1;
      if (format) {
        const { streamStatementCsv } = await import('../../src/statements/statement.js');
        // It is not an error if the reader closes the pipe (`| head`).
        await pipeline(streamStatementCsv(statement, { after, format }), process.stdout, {
          end: false,
        }).catch(ignoreClosedPipe);
        return { data: null, text: '' };
      }
      return show(statement, { after, limit });
    },
  });
}

async function show(statement: Statement, page: { after: number; limit: number }) {
  const [{ readBalances, readEntries }, { presentEntry }] = await Promise.all([
    import('../../src/statements/statement.js'),
    import('../../src/statements/statement.js'),
  ]);
  const [balances, entries] = await Promise.all([readBalances(statement), readEntries(statement, page)]);
  const { opening, closing } = balances ?? { opening: 0, closing: 0 };
  const left = statement.lastSeq - page.after - entries.length;
  const rows = entries.map(({ at, kind, refId, amount, balance }) => [
    time(at),
    kind,
    refId ?? '-',
    rupiah(amount),
    rupiah(balance),
  ]);
  return {
    data: {
      period: { start_date: statement.period.start, end_date: statement.period.end },
      opening_balance: opening,
      closing_balance: closing,
      entries: entries.map((each) => presentEntry(each)),
      left,
    },
    text: [
      ...(rows.length > 0 ? [table(['at', 'kind', 'ref_id', 'amount', 'balance'], rows, [3, 4])] : []),
      ...(left > 0 ? [`… and ${left.toLocaleString('en')} more: use --csv or a shorter period`] : []),
      '',
      facts([
        ['opening balance', rupiah(opening)],
        ['closing balance', rupiah(closing)],
      ]),
    ].join('\n'),
  };
}

function ignoreClosedPipe(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE' && error.code !== 'ERR_STREAM_PREMATURE_CLOSE') {
    throw error;
  }
}
