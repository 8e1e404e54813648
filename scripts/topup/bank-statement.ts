import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { Option, type Command } from 'commander';
import type { BankLineStatus } from '../../src/deposits/bank/bank-line.model.js';
import { defineCommand } from './define-command.js';
import { formatStatementPreview, shownMax } from './bank-statement-preview.js';
import { listText } from './format.js';
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

/** `topup deposit statement|lines|use|set-aside|reopen`. */
export function registerBankStatement(deposit: Command): void {
  defineCommand<StatementOptions>(deposit, {
    usage: 'statement <file>',
    action: 'deposit.decide',
    summary: 'Show which deposits a bank statement would confirm, or confirm them',
    details:
      'CSV, HTML table, MT940 or CAMT.053 as the bank exports it. Tables are read by their headings (Tanggal, Keterangan, Kredit …); at most 50,000 lines and 10 MB. A line with our id of a pending deposit of the same amount confirms that deposit. With --by-reference a ref_id does too. Clients choose the ref_id, so check the texts first. Without --confirm nothing changes. --confirm takes the hash of the preview and confirms exactly what was shown, or nothing. All incoming lines are stored, so that none is used twice.',
    examples: [
      'deposit statement mutasi.csv',
      'deposit statement mutasi.csv --confirm 4f1c… --by-reference --reason "BCA 23/11"',
    ],
    options: [
      new Option('--confirm <hash>', 'confirm the preview that was shown with this hash'),
      new Option('--by-reference', "also confirm lines with a client's ref_id"),
      new Option('--by-amount', 'also confirm lines that match only by amount'),
      optionalReasonOption(),
    ],
    async run({ arg, options, by }) {
      const file = arg('file');
      if (options.confirm === undefined) {
        return preview(file);
      }
      if (options.reason === undefined) {
        throw new UsageError('Give the reason: --reason.');
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
  const [{ listCorrections }, { planStatement }, { readBankStatement }] = await Promise.all([
    import('../../src/deposits/bank/list-corrections.js'),
    import('../../src/deposits/bank/plan-statement.js'),
    import('../../src/deposits/bank/read-bank-statement.js'),
  ]);
  const plan = await planStatement(await readBankStatement(readFileSync(file)));
  const corrections = listCorrections(plan.taken);
  const { taken: _taken, ...shown } = plan;
  return { data: { ...shown, corrections }, text: formatStatementPreview({ ...shown, corrections }) };
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
      `Confirmed ${done.confirmed} deposits and stored ${done.kept} new lines.`,
      ...(done.corrected > 0
        ? [
            `Stored ${done.corrected} corrections by the bank. If their payments were credited: topup case list.`,
          ]
        : []),
      ...(done.stood > 0 ? [`Credited in the meantime: ${done.stood}.`] : []),
      ...done.left.slice(0, shownMax).map(({ line, why }) => `line ${line} was skipped: ${why}`),
    ].join('\n'),
  };
}

function registerLines(deposit: Command): void {
  defineOperationCommand(deposit, {
    usage: 'lines',
    action: 'bank-line.look',
    summary: 'List lines of bank statements, newest first; by default incoming payments without a deposit',
    examples: ['deposit lines', 'deposit lines --status used --limit 5 --json'],
    options: [
      new Option('--status <status>', 'status')
        .choices(['open', 'used', 'set-aside', 'taken-back', 'correction'])
        .default('open'),
      new Option('--after <place>', 'start after this place, as printed by the previous page'),
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
          ['pending deposits', choicesOf],
          ['text', (line) => line.description],
        ],
        empty: 'No line matches.',
        next: data.next,
      }),
    }),
  });
}

function registerUse(deposit: Command): void {
  defineOperationCommand(deposit, {
    usage: 'use <line> <deposit>',
    action: 'deposit.decide',
    summary: 'Confirm a pending deposit with a bank statement line of the same amount',
    details:
      'For lines that name no deposit. `deposit lines` lists the pending deposits of the amount of each line. Name the line by its id or by at least the last six characters of it, and the deposit by its ref_id or id. If a line of the same amount, at most a day apart, was used or set aside, it may be the same payment with another text: then --meant is required. Repeating it changes nothing.',
    examples: [
      'deposit use f0be10 TOPUP-1001 --reason "the customer sent the receipt"',
      'deposit use 0192f0c1a2b34 01a1fde5d07770f0be10a241618d0695 --reason "the customer sent the receipt"',
    ],
    options: [
      new Option('--meant', 'confirm even if a decided line may be the same payment'),
      reasonOption(),
    ],
    operation: async () => (await import('../../src/console/deposits/bank-lines.js')).useBankLine,
    input: ({ fields }) => ({
      id: fields['line'],
      line: undefined,
      deposit: undefined,
      deposit_id: fields['deposit'],
    }),
    output: (data) => ({ data, text: data.changed ? 'Confirmed.' : 'Nothing changed: already confirmed.' }),
  });
}

function registerSetAside(deposit: Command): void {
  defineOperationCommand(deposit, {
    usage: 'set-aside <line>',
    action: 'deposit.decide',
    summary: 'Set a line aside because it pays for no deposit',
    examples: ['deposit set-aside 0192f0c1a2b34 --reason "interest"'],
    options: [reasonOption()],
    operation: async () => (await import('../../src/console/deposits/bank-lines.js')).setBankLineAside,
    input: ({ fields }) => ({ id: fields['line'], line: undefined }),
    output: (data) => ({
      data,
      text: data.changed ? 'Set aside.' : 'Nothing changed: it was already set aside.',
    }),
  });
}

function registerReopen(deposit: Command): void {
  defineOperationCommand(deposit, {
    usage: 'reopen <line>',
    action: 'deposit.decide',
    summary: 'Reopen a line that was set aside or taken back',
    examples: ['deposit reopen 0192f0c1a2b34 --reason "the wrong line"'],
    options: [reasonOption()],
    operation: async () => (await import('../../src/console/deposits/bank-lines.js')).reopenBankLine,
    input: ({ fields }) => ({ id: fields['line'], line: undefined }),
    output: (data) => ({ data, text: data.changed ? 'Open again.' : 'Nothing changed: already open.' }),
  });
}

interface ChoosableLine {
  choices: { account: string; ref_id: string }[];
  more_choices: boolean;
}

function choicesOf({ choices, more_choices }: ChoosableLine): string {
  const named = choices.map(({ account, ref_id }) => `${account} ${ref_id}`).join(', ');
  return more_choices ? `${named}, …` : named;
}

interface ShownLine {
  deposit_id: string | null;
  decided: { reason: string | null } | null;
  same_before: { id: string; status: BankLineStatus }[];
}

function depositOf({ deposit_id, decided, same_before: [one] }: ShownLine): string {
  return deposit_id ?? decided?.reason ?? (one ? `perhaps the same as ${one.id}, ${one.status}` : '');
}
