import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { Option, type Command } from 'commander';
import type { BankLineStatus } from '../../src/deposits/bank/bank-line.model.js';
import type { LineMatch } from '../../src/deposits/bank/line-match.js';
import type { PlannedLine, StatementPlan } from '../../src/deposits/bank/plan-statement.js';
import type { BankLineRefusal } from '../../src/deposits/bank/read-bank-statement.js';
import { defineCommand } from './define-command.js';
import { facts, heading, listText, rupiah, table } from './format.js';
import { defineOperationCommand } from './operation-command.js';
import { limitOption, optionalReasonOption, reasonOption } from './options.js';
import type { Output } from './print.js';
import { UsageError } from './usage-error.js';

interface StatementOptions {
  confirm?: string;
  byReference?: boolean;
  byAmount?: boolean;
  reason?: string;
}

type By = { actor: string; from: null; reason: string | null };

/** Maximum printed lines of each list; `--json` has all. */
const shownMax = 200;

const matches: Record<LineMatch, string> = {
  named: 'names its deposit by our id',
  referenced: "has its client's ref_id",
  amount: 'only the amount fits',
  several: 'several could be meant',
  repeated: 'another line is for the same deposit',
  decided: 'its deposit was decided before',
  'other-amount': 'names a deposit of another amount',
  none: 'fits to no deposit',
  used: 'was used before',
  'set-aside': 'was set aside before',
};

const refusals: Record<BankLineRefusal, string> = {
  'bad-date': 'its day cannot be read, or is to come',
  'not-booked': 'the bank has not booked it yet',
  'too-old': 'it is older than 90 days',
  'bad-amount': 'its amount cannot be read',
  'no-direction': 'does not say whether money came or went',
};

/** `topup deposit statement|lines|use|set-aside|reopen`. */
export function registerBankStatement(deposit: Command): void {
  defineCommand<StatementOptions>(deposit, {
    usage: 'statement <file>',
    action: 'deposit.decide',
    summary: 'Show which deposits a bank statement would confirm, or confirm them',
    details:
      'CSV in UTF-8 as the bank exports it, by its headings (Tanggal, Keterangan, Kredit …); at most 10,000 lines and 5 MB. A line with our id of the pending deposit of its amount confirms it; with --by-reference one with its ref_id does too, which its client chose: look at the texts first. Without --confirm nothing is changed. --confirm takes the hash that was shown: what was looked at is confirmed, or nothing. All incoming lines are kept, so that none is used twice.',
    examples: [
      'deposit statement mutasi.csv',
      'deposit statement mutasi.csv --confirm 4f1c… --by-reference --reason "BCA 23/11"',
    ],
    options: [
      new Option('--confirm <hash>', 'confirm what was shown with this hash'),
      new Option('--by-reference', "also lines with a client's ref_id"),
      new Option('--by-amount', 'also lines for which only the amount speaks'),
      optionalReasonOption(),
    ],
    async run({ arg, options, by }) {
      const file = arg('file');
      if (options.confirm === undefined) {
        return preview(file);
      }
      if (options.reason === undefined) {
        throw new UsageError('Say why: --reason.');
      }
      return confirm(file, { ...options, fingerprint: options.confirm }, by);
    },
  });
  registerLines(deposit);
  registerUse(deposit);
  registerSetAside(deposit);
  registerReopen(deposit);
}

async function preview(file: string): Promise<Output> {
  const [{ planStatement }, { readBankStatement }] = await Promise.all([
    import('../../src/deposits/bank/plan-statement.js'),
    import('../../src/deposits/bank/read-bank-statement.js'),
  ]);
  const plan = await planStatement(await readBankStatement(readFileSync(file)));
  return { data: plan, text: textOf(plan) };
}

async function confirm(
  file: string,
  { fingerprint, byReference, byAmount }: StatementOptions & { fingerprint: string },
  by: By,
): Promise<Output> {
  const { confirmStatement } = await import('../../src/deposits/bank/confirm-statement.js');
  const asked = { bytes: readFileSync(file), file: basename(file), fingerprint, byReference, byAmount };
  const done = await confirmStatement(asked, by);
  return {
    data: done,
    text: [
      `Confirmed ${done.confirmed} deposits and kept ${done.kept} new lines.`,
      ...(done.stood > 0 ? [`Found credited meanwhile: ${done.stood}.`] : []),
      ...done.left.slice(0, shownMax).map(({ line, why }) => `line ${line} was left: ${why}`),
    ].join('\n'),
  };
}

function registerLines(deposit: Command): void {
  defineOperationCommand(deposit, {
    usage: 'lines',
    action: 'bank-line.look',
    summary: 'List lines of bank statements: money that came and nobody knows whose, the newest first',
    examples: ['deposit lines', 'deposit lines --status used --limit 5 --json'],
    options: [
      new Option('--status <status>', 'which').choices(['open', 'used', 'set-aside']).default('open'),
      new Option('--after <place>', 'those behind this place, as the list before says'),
      limitOption(20),
    ],
    operation: async () => (await import('../../src/console/deposits/bank-lines.js')).listBankLinesCall,
    output: (data) => ({
      data,
      text: listText(data.lines, {
        columns: [
          'id',
          'day',
          'amount',
          'status',
          ['deposit', depositOf],
          ['text', (line) => line.description],
        ],
        empty: 'No line fits.',
        next: data.next,
      }),
    }),
  });
}

function registerUse(deposit: Command): void {
  defineOperationCommand(deposit, {
    usage: 'use <line> <id>',
    action: 'deposit.decide',
    summary: 'Confirm a pending deposit with a line of a bank statement that has its amount',
    details:
      'For lines that name no deposit. Where a line of the same amount, at most a day away, was used or set aside, it may be the same payment with another text: then only with --meant. Asking twice changes nothing the second time.',
    examples: [
      'deposit use 0192f0c1a2b34 01a1fde5d07770f0be10a241618d0695 --reason "the customer sent the receipt"',
    ],
    options: [
      new Option('--meant', 'also where a line that was decided may be the same payment'),
      reasonOption(),
    ],
    operation: async () => (await import('../../src/console/deposits/bank-lines.js')).useBankLine,
    input: ({ fields }) => ({ id: fields['line'], line: undefined, deposit_id: fields['id'] }),
    output: (data) => ({ data, text: data.changed ? 'Confirmed.' : 'Nothing changed: it was done before.' }),
  });
}

function registerSetAside(deposit: Command): void {
  defineOperationCommand(deposit, {
    usage: 'set-aside <line>',
    action: 'deposit.decide',
    summary: 'Say that the money of a line is for no deposit, and why',
    examples: ['deposit set-aside 0192f0c1a2b34 --reason "interest"'],
    options: [reasonOption()],
    operation: async () => (await import('../../src/console/deposits/bank-lines.js')).setBankLineAside,
    input: ({ fields }) => ({ id: fields['line'], line: undefined }),
    output: (data) => ({
      data,
      text: data.changed ? 'Set aside.' : 'Nothing changed: it was set aside before.',
    }),
  });
}

function registerReopen(deposit: Command): void {
  defineOperationCommand(deposit, {
    usage: 'reopen <line>',
    action: 'deposit.decide',
    summary: 'Take back that a line was set aside',
    examples: ['deposit reopen 0192f0c1a2b34 --reason "the wrong line"'],
    options: [reasonOption()],
    operation: async () => (await import('../../src/console/deposits/bank-lines.js')).reopenBankLine,
    input: ({ fields }) => ({ id: fields['line'], line: undefined }),
    output: (data) => ({ data, text: data.changed ? 'Open again.' : 'Nothing changed: it was open before.' }),
  });
}

interface ShownLine {
  deposit_id: string | null;
  decided: { reason: string | null } | null;
  same_before: { id: string; status: BankLineStatus }[];
}

function depositOf({ deposit_id, decided, same_before: [one] }: ShownLine): string {
  return deposit_id ?? decided?.reason ?? (one ? `perhaps the same as ${one.id}, ${one.status}` : '');
}

function daysOf(days: StatementPlan['days']): string | null {
  if (!days) {
    return null;
  }
  const range = `${days.first} to ${days.last}`;
  return days.isOrderTold ? range : `${range}: read with the day first, but each could be a month. LOOK`;
}

function textOf({ lines, days, outgoing, others, refused, fingerprint }: StatementPlan): string {
  const found = (match: LineMatch) => lines.filter((each) => each.match === match);
  const listed = lines.filter(({ match }) => match !== 'used' && match !== 'set-aside');
  return [
    facts([
      ['incoming', String(lines.length)],
      ['of the days', daysOf(days)],
      ...(Object.keys(matches) as LineMatch[]).map((match): [string, string | null] => [
        matches[match],
        found(match).length === 0 ? null : String(found(match).length),
      ]),
      ['outgoing', String(outgoing)],
      ['without an amount', String(others)],
      ['not read', refused.length === 0 ? null : String(refused.length)],
      ['hash', fingerprint],
    ]),
    ...(listed.length === 0
      ? []
      : [
          heading('Lines'),
          table(
            ['line', 'day', 'amount', 'what', 'deposit', 'text'],
            listed.slice(0, shownMax).map(rowOf),
            [0, 2],
          ),
        ]),
    ...(refused.length === 0
      ? []
      : [
          heading('Not read'),
          ...refused.slice(0, shownMax).map(({ line, why }) => `line ${line}: ${refusals[why]}`),
        ]),
    ...(Math.max(listed.length, refused.length) > shownMax
      ? [`Only ${shownMax} of each are shown: --json has all.`]
      : []),
  ].join('\n');
}

function rowOf({ line, day, amount, match, sameBefore, deposits, description }: PlannedLine): string[] {
  const could = deposits.map(({ _id, refId }) => `${_id} (${refId})`).join(', ');
  const what = sameBefore ? `${matches[match]}; a line like it was decided before` : matches[match];
  return [String(line), day, rupiah(amount), what, could, description];
}
