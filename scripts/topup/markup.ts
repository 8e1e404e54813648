import { InvalidArgumentError, Option, type Command } from 'commander';
import { limits } from '../../config/limits.js';
import { defineGroup, type CommandCall } from './define-command.js';
import { listText, rupiah } from './format.js';
import { defineOperationCommand } from './operation-command.js';
import { limitOption, priceGroup, reasonOption, wholeNumber } from './options.js';

const precedence =
  'Of all rules that fit a purchase one stands alone: one of the account before one of its price group, before one for all accounts, and of each the one of the product before that of its subcategory, its category and of all. The seller gets what it would get without.';

/** `topup markup …`: what buyers pay above the seller's price. */
export function registerMarkup(program: Command): void {
  const group = defineGroup(program, 'markup', "What buyers pay above sellers' prices");
  registerList(group);
  registerSet(group);
  registerRemove(group);
  registerGroups(group);
}

function registerList(group: Command): void {
  defineOperationCommand(group, {
    usage: 'list',
    action: 'markup.look',
    summary: 'List the rules: those for all accounts first, then those of price groups',
    details: precedence,
    examples: ['markup list', 'markup list --account warung-sari --json'],
    options: [
      new Option('--account <username>', 'those of this buyer alone'),
      new Option('--group <name>', 'those of this price group alone').argParser(priceGroup),
      new Option('--after <id>', 'those after this one'),
      limitOption(),
    ],
    operation: async () => (await import('../../src/console/markups/list-markups.js')).listMarkupsCall,
    output: (data) => ({
      data,
      text: listText(data.markups, {
        columns: [
          ['for', forWhom],
          ['what', kindOf],
          ['code or name', ({ product, category }) => product ?? category],
          ['markup', added],
        ],
        empty: 'There is no markup.',
        next: data.next,
      }),
    }),
  });
}

interface TargetOptions {
  product?: string;
  category?: string;
  all?: boolean;
  account?: string;
  group?: string;
}

function registerSet(group: Command): void {
  defineOperationCommand(group, {
    usage: 'set',
    action: 'markup.set',
    summary: "Set what buyers pay above the seller's price",
    details: `Holds for the next price list, purchase and inquiry of a bill; what was accepted or answered keeps its price. ${precedence}`,
    examples: [
      'markup set --category pascabayar --rupiah 2500 --reason "our fee on bills"',
      'markup set --product S10 --percent 1.25 --reason "list of March"',
      'markup set --category pulsa --group grosir --rupiah 50 --reason "resellers of the first class"',
      'markup set --all --account warung-sari --percent 0 --reason "contract 12: sellers\' prices"',
    ],
    options: [
      ...targetOptions(),
      new Option(
        '--percent <percent>',
        "of the seller's price, 0 to 100, rounded up to whole rupiah",
      ).argParser(percent),
      new Option('--rupiah <rupiah>', 'whole rupiah').argParser(wholeNumber(0, limits.markupRupiahMax)),
      reasonOption(),
    ],
    operation: async () => (await import('../../src/console/markups/change-markups.js')).setMarkupCall,
    input: forEverybody,
    async output(_answer, { options }: CommandCall<TargetOptions & { percent?: number; rupiah?: number }>) {
      const { account = null, group = null, product = null, category = null } = options;
      const { percent: share = null, rupiah: amount = null } = options;
      const data = { account, group, product, category, percent: share, rupiah: amount };
      const text = `${forWhom(data)}, ${kindOf(data)} ${product ?? category ?? ''}`.trimEnd();
      return { data, text: `${text}: ${added(data)}${await hintOfEmptyGroup(options.group)}` };
    },
  });
}

/** A misspelt name is a group of its own. */
async function hintOfEmptyGroup(name: string | undefined): Promise<string> {
  if (name === undefined) {
    return '';
  }
  const { countAccountsOfGroup } = await import('../../src/providers/list-price-groups.js');
  return (await countAccountsOfGroup(name)) > 0
    ? ''
    : `\nNo account is in ${name} yet: topup account group <username> ${name}, or see the names by topup markup groups.`;
}

function registerRemove(group: Command): void {
  defineOperationCommand(group, {
    usage: 'remove',
    action: 'markup.set',
    summary: 'Remove a rule',
    details: 'Of the rules that are left the next one holds, from the next call on.',
    examples: ['markup remove --product S10 --reason "as its category again"'],
    options: [...targetOptions(), reasonOption()],
    operation: async () => (await import('../../src/console/markups/change-markups.js')).removeMarkupCall,
    input: forEverybody,
    output: () => ({ data: { removed: true }, text: 'The markup is removed.' }),
  });
}

function targetOptions(): Option[] {
  return [
    new Option('--product <code>', 'of this product'),
    new Option('--category <name>', 'of a subcategory such as pulsa, or of prabayar or pascabayar'),
    new Option('--all', 'of all that is sold'),
    new Option('--account <username>', 'for this buyer alone; without it and --group for all'),
    new Option('--group <name>', 'for the buyers of this price group').argParser(priceGroup),
  ];
}

/** The operation wants it said where a rule is for all buyers. */
function forEverybody({ options: { account, group } }: CommandCall<TargetOptions>) {
  return { everybody: account === undefined && group === undefined ? true : undefined };
}

function kindOf({ product, category }: { product: string | null; category: string | null }): string {
  return product ? 'product' : category ? 'category' : 'all';
}

function registerGroups(group: Command): void {
  defineOperationCommand(group, {
    usage: 'groups',
    action: 'markup.look',
    summary: 'List the price groups with their accounts',
    details:
      'There is a group as soon as a rule or an account names it. Put an account into one: topup account group. Who is in one: topup account list --group.',
    examples: ['markup groups'],
    options: [new Option('--after <name>', 'those after this one'), limitOption()],
    operation: async () =>
      (await import('../../src/console/markups/list-price-groups.js')).listPriceGroupsCall,
    output: (data) => ({
      data,
      text: listText(data.groups, {
        columns: [
          ['group', ({ name }) => name],
          ['accounts', ({ accounts }) => `${accounts}${accounts < data.counted_max ? '' : ' or more'}`],
        ],
        empty: 'There is no price group.',
        next: data.next,
      }),
    }),
  });
}

function percent(value: string): number {
  if (!/^\d{1,3}(\.\d{1,2})?$/.test(value) || Number(value) > 100) {
    throw new InvalidArgumentError('It must be a number from 0 to 100, with at most two decimals.');
  }
  return Number(value);
}

function forWhom({ account, group }: { account: string | null; group: string | null }): string {
  return account ?? (group === null ? 'all' : `group ${group}`);
}

function added(of: { percent: number | null; rupiah: number | null }): string {
  return of.percent === null ? rupiah(of.rupiah ?? 0) : `${of.percent} %`;
}
