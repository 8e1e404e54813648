import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { Option, type Command } from 'commander';
import { limits } from '../../config/limits.js';
import type { ImportPlan, ConfirmReason, PlannedChange } from '../../src/providers/imports/plan-import.js';
import type { OfferFigures } from '../../src/providers/imports/price-import.model.js';
import type { LineRefusal } from '../../src/providers/imports/read-price-file.js';
import { defineCommand } from './define-command.js';
import { facts, formatHeading, listText, rupiah, table } from './format.js';
import { defineOperationCommand } from './operation-command.js';
import { limitOption, optionalReasonOption } from './options.js';
import type { Output } from './print.js';
import { UsageError } from './usage-error.js';

interface ImportOptions {
  apply?: boolean;
  meant?: boolean;
  undo?: string;
  reason?: string;
}

type By = { actor: string; from: null; reason: string | null };

/** Maximum number of lines printed per list. `--json` prints all. */
const shownMax = 200;

const format =
  'CSV in UTF-8 (commas, semicolons or tabs), or the first sheet of a workbook (xlsx); at most 10,000 lines and 5 MB. The first line names the columns: code, seller (username), and at least one of price, cost and status. Amounts are rupiah in digits only. An empty cell changes nothing. If the provider has a price list, its next price list overwrites an imported cost.';

/** `topup product import|imports|history`. */
export function registerPriceImport(product: Command): void {
  defineCommand<ImportOptions>(product, {
    usage: 'import [file]',
    action: 'product.set',
    summary: 'Preview a price list, apply it, or undo an import',
    details: `${format}\n\nWithout --apply nothing changes. Refused lines are skipped. Prices that lose money, fall by more than half or rise to five times or more need --meant. --undo restores the values before an import, except those that were changed since. Run it again later to undo these.`,
    examples: [
      'product import list.xlsx',
      'product import list.xlsx --apply --reason "their list of March"',
      'product import --undo 0192f0c1a2b3 --reason "the wrong file"',
    ],
    options: [
      new Option('--apply', 'change the offers'),
      new Option(
        '--meant',
        'also apply prices that lose money, fall by more than half or rise to five times or more',
      ),
      new Option('--undo <id>', 'undo an import'),
      optionalReasonOption(),
    ],
    async run({ arg, options, by }) {
      const file = arg('file');
      const changes = options.apply === true || options.undo !== undefined;
      if (
        (file === '') === (options.undo === undefined) ||
        (options.undo !== undefined && options.apply === true)
      ) {
        throw new UsageError('Give the file of a price list, or the id of an import with --undo.');
      }
      if (changes && options.reason === undefined) {
        throw new UsageError('Give the reason: --reason.');
      }
      if (options.undo !== undefined) {
        return undo(options.undo, by);
      }
      return options.apply === true ? apply(file, options, by) : preview(file);
    },
  });
  registerImports(product);
  registerHistory(product);
}

async function preview(file: string): Promise<Output> {
  const [{ planImport }, { readPriceFile }] = await Promise.all([
    import('../../src/providers/imports/plan-import.js'),
    import('../../src/providers/imports/read-price-file.js'),
  ]);
  const plan = await planImport(await readPriceFile(readFileSync(file)));
  return { data: plan, text: [await textOf(plan), '', 'Nothing was changed. Apply it: --apply'].join('\n') };
}

async function apply(file: string, { meant }: ImportOptions, by: By): Promise<Output> {
  const { applyImport } = await import('../../src/providers/imports/apply-import.js');
  const { importId, plan, changed, kept } = await applyImport(
    { bytes: readFileSync(file), file: basename(file), meant },
    by,
  );
  return {
    data: { importId, changed, kept, refused: plan.refused, unchanged: plan.unchanged },
    text: [
      await textOf(plan),
      '',
      `${changed} offers were changed. To undo this: topup product import --undo ${importId} --reason …`,
      ...(kept.length === 0
        ? []
        : [
            `Skipped, because they changed since the preview: lines ${formatNumbers(kept.map(({ line }) => line))}`,
          ]),
    ].join('\n'),
  };
}

async function undo(id: string, by: By): Promise<Output> {
  const { undoImport } = await import('../../src/providers/imports/undo-import.js');
  const { undone, kept } = await undoImport(id, by);
  return {
    data: { undone, kept },
    text: [
      `${undone} offers have their previous values again.`,
      ...(kept.length === 0
        ? []
        : [
            `Skipped, because they were changed since: ${formatNumbers(kept.map(({ line, productCode, fields }) => `${productCode} (line ${line}: ${fields.join(', ')})`))}`,
            `To undo the rest later: topup product import --undo ${id} --reason …`,
          ]),
    ].join('\n'),
  };
}

function registerImports(product: Command): void {
  defineOperationCommand(product, {
    usage: 'imports',
    action: 'product.look',
    summary: 'List imported price lists, newest first',
    examples: ['product imports', 'product imports --limit 5 --json'],
    options: [new Option('--after <id>', 'continue after this import, for the next page'), limitOption(20)],
    operation: async () => (await import('../../src/console/imports/list-price-imports.js')).listPriceImports,
    output: (data) => ({
      data,
      text: listText(data.imports, {
        columns: [
          'id',
          'at',
          'file',
          'status',
          ['changed', ({ changed, planned }) => `${changed} of ${planned}`],
          ['by', ({ actor }) => actor],
        ],
        empty: 'No price list was imported.',
        next: data.next,
      }),
    }),
  });
}

function registerHistory(product: Command): void {
  defineOperationCommand(product, {
    usage: 'history <code>',
    action: 'product.look',
    summary: "Show the changes of a seller's price, newest first",
    details: "Read from the audit log, which leaves out costs from a provider's price list.",
    examples: ['product history S10 --seller grosir'],
    options: [new Option('--seller <username>', 'seller').makeOptionMandatory(), limitOption(20)],
    operation: async () => (await import('../../src/console/imports/list-price-imports.js')).getOfferHistory,
    output: (data) => ({
      data,
      text: listText(data.moments, {
        columns: [
          'at',
          'price',
          'cost',
          'status',
          ['by', ({ actor }) => actor],
          ['why', ({ reason }) => reason],
        ],
        empty: 'The audit log has no change.',
      }),
    }),
  });
}

const refusalDescriptions: Record<LineRefusal, string> = {
  'no-code': 'names no product',
  'no-seller': 'names no seller',
  'bad-price': 'its price must have digits only',
  'bad-cost': 'its cost must have digits only',
  'price-too-high': `its price is above ${rupiah(limits.offerPriceMax)}`,
  'cost-too-high': `its cost is above ${rupiah(limits.offerPriceMax)}`,
  'bad-status': 'its status must be active, inactive or maintenance',
  'nothing-said': 'has no price, cost or status',
  'no-heading':
    'has more cells than the first line has headings. Write numbers in digits only (10,500 is two cells), put text with a separator in quotes, and name each column',
  'no-result':
    'a cell holds a formula without its result: save the file again with a spreadsheet program, or as values',
  'is-date': 'a cell holds a date',
  'is-hidden': 'it is hidden or has a hidden column',
  'unreadable-cell':
    'a cell cannot be read, or shows another number than it stores: give it a plain number format, or enter it again',
  repeated: 'an earlier line has the same offer',
  'unknown-product': 'there is no such product',
  'unknown-seller': 'there is no such seller',
  'no-offer': 'the seller does not offer the product',
};

async function textOf({ lines, changes, unchanged, refused }: ImportPlan): Promise<string> {
  const { sortByImportance } = await import('../../src/providers/imports/plan-import.js');
  const ordered = sortByImportance(changes);
  const linesOf = (why: ConfirmReason) => {
    const found = ordered.filter((each) => each[why]).map(({ line }) => line);
    return found.length === 0 ? null : formatNumbers(found);
  };
  return [
    facts([
      ['lines', String(lines)],
      ['changes', String(changes.length)],
      ['of these lose money', linesOf('loses')],
      ['of these fall by more than half', linesOf('falls')],
      ['of these rise to five times or more', linesOf('rises')],
      ['unchanged', String(unchanged)],
      ['refused', String(refused.length)],
    ]),
    ...(changes.length === 0
      ? []
      : [
          formatHeading('Changes'),
          table(
            ['line', 'code', 'seller', 'price', 'cost', 'status', 'left'],
            ordered.slice(0, shownMax).map(rowOf),
            [0, 3, 4, 6],
          ),
        ]),
    ...(refused.length === 0
      ? []
      : [
          formatHeading('Refused'),
          ...refused.slice(0, shownMax).map(({ line, why }) => `line ${line}: ${refusalDescriptions[why]}`),
        ]),
    ...(Math.max(changes.length, refused.length) > shownMax
      ? [`Only ${shownMax} of each are shown; --json prints all.`]
      : []),
  ].join('\n');
}

function rowOf({ line, code, seller, before, after, margin, loses, falls, rises }: PlannedChange): string[] {
  const change = (field: keyof OfferFigures) =>
    before[field] === after[field] ? '' : `${formatValue(before[field])} -> ${formatValue(after[field])}`;
  const left = margin === null ? '-' : rupiah(margin);
  return [
    String(line),
    code,
    seller,
    change('price'),
    change('cost'),
    change('status'),
    [loses ? `LOSES ${left}` : left, ...(falls ? ['FALLS'] : []), ...(rises ? ['RISES'] : [])].join(' '),
  ];
}

function formatValue(value: number | string | null): string {
  return value === null ? '-' : typeof value === 'number' ? rupiah(value) : value;
}

function formatNumbers(all: (string | number)[]): string {
  return all.length > 20 ? `${all.slice(0, 20).join(', ')} and ${all.length - 20} more` : all.join(', ');
}
