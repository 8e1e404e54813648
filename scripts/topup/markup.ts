import { InvalidArgumentError, Option, type Command } from 'commander';
import { limits } from '../../config/limits.js';
import type { MarkupTarget } from '../../src/products/set-markup.js';
import { defineCommand, defineGroup } from './define-command.js';
import { rupiah, table } from './format.js';
import { limitOption, priceGroup, reasonOption, wholeNumber } from './options.js';
import { UsageError } from './usage-error.js';

const precedence =
  'Only the most specific rule applies to a purchase. A rule of the account comes before one of its price group, then one for all accounts. Within each, the product comes before its subcategory, its category and all products. The seller gets the same as without a markup.';

/** `topup markup …`: markups on sellers' prices. */
export function registerMarkup(program: Command): void {
  const group = defineGroup(program, 'markup', "Markups on sellers' prices");
  registerList(group);
  registerSet(group);
  registerRemove(group);
  registerGroups(group);
}

function registerList(group: Command): void {
  defineCommand<{ account?: string; group?: string; after?: string; limit: number }>(group, {
    usage: 'list',
    action: 'markup.look',
    summary: 'List the markups, those for all accounts first, then those of price groups',
    details: precedence,
    examples: ['markup list', 'markup list --account warung-sari --json'],
    options: [
      new Option('--account <username>', 'only markups of this buyer'),
      new Option('--group <name>', 'only markups of this price group').argParser(priceGroup),
      new Option('--after <id>', 'start after this markup'),
      limitOption(),
    ],
    async run({ options: { account, group: priceGroupName, after, limit } }) {
      refuseBoth({ account, group: priceGroupName });
      const [{ listMarkups }, { requireAccount }, { findUsernames }] = await Promise.all([
        import('../../src/products/markups.js'),
        import('../../src/accounts/find-account.js'),
        import('../../src/accounts/find-account.js'),
      ]);
      const accountId = account === undefined ? null : (await requireAccount(account))._id;
      const owner = { accountId, priceGroup: priceGroupName ?? null };
      const isOfOne = account !== undefined || priceGroupName !== undefined;
      const { markups, next } = await listMarkups({ ...(isOfOne && { owner }), after, limit });
      const usernames = await findUsernames(markups.flatMap((each) => each.accountId ?? []));
      const shown = markups.map(
        ({ accountId: id, scope, of, percentHundredths, rupiah: amount, ...each }) => ({
          account: id === null ? null : (usernames[id] ?? id),
          group: each.priceGroup ?? null,
          scope,
          of,
          percent: percentHundredths === null ? null : percentHundredths / 100,
          rupiah: amount,
        }),
      );
      return {
        data: { markups: shown, next },
        text: [
          shown.length === 0
            ? 'There is no markup.'
            : table(
                ['for', 'what', 'code or name', 'markup'],
                shown.map((each) => [describeBuyer(each), each.scope, each.of ?? '-', formatMarkup(each)]),
                [3],
              ),
          ...(next === null ? [] : [`More: --after "${next}"`]),
        ].join('\n'),
      };
    },
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
  defineCommand<TargetOptions & { percent?: number; rupiah?: number }>(group, {
    usage: 'set',
    action: 'markup.set',
    summary: "Set a markup on sellers' prices",
    details: `Takes effect with the next price list, purchase and bill inquiry. Accepted purchases and completed inquiries keep their price. ${precedence}`,
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
        "percent of the seller's price, 0 to 100, rounded up to whole rupiah",
      ).argParser(percent),
      new Option('--rupiah <rupiah>', 'amount in rupiah').argParser(wholeNumber(0, limits.markupRupiahMax)),
      reasonOption(),
    ],
    async run({ options, by }) {
      if ((options.percent === undefined) === (options.rupiah === undefined)) {
        throw new UsageError('Give exactly one of --percent and --rupiah.');
      }
      const { setMarkup } = await import('../../src/products/set-markup.js');
      const {
        percentHundredths,
        rupiah: amount,
        scope,
        of,
      } = await setMarkup(await targetOf(options), { percent: options.percent, rupiah: options.rupiah }, by);
      const data = {
        account: options.account ?? null,
        group: options.group ?? null,
        scope,
        of,
        percent: percentHundredths === null ? null : percentHundredths / 100,
        rupiah: amount,
      };
      const what = of === null ? scope : `${scope} ${of}`;
      const empty = await buildEmptyGroupHint(options.group);
      return { data, text: `${describeBuyer(data)}, ${what}: ${formatMarkup(data)}${empty}` };
    },
  });
}

/** Returns a hint if a price group has no members, because a misspelt name creates a new group. */
async function buildEmptyGroupHint(name: string | undefined): Promise<string> {
  if (name === undefined) {
    return '';
  }
  const { countAccountsOfGroup } = await import('../../src/providers/price-groups.js');
  return (await countAccountsOfGroup(name)) > 0
    ? ''
    : `\nNo account is in ${name} yet. Add one: topup account group <username> ${name}. List the groups: topup markup groups.`;
}

function registerRemove(group: Command): void {
  defineCommand<TargetOptions>(group, {
    usage: 'remove',
    action: 'markup.set',
    summary: 'Remove a markup',
    details: 'The next rule that matches applies, from the next call on.',
    examples: ['markup remove --product S10 --reason "as its category again"'],
    options: [...targetOptions(), reasonOption()],
    async run({ options, by }) {
      const { removeMarkup } = await import('../../src/products/set-markup.js');
      await removeMarkup(await targetOf(options), by);
      return { data: { removed: true }, text: 'The markup is removed.' };
    },
  });
}

function targetOptions(): Option[] {
  return [
    new Option('--product <code>', 'for this product'),
    new Option('--category <name>', 'for a subcategory such as pulsa, or for prabayar or pascabayar'),
    new Option('--all', 'for all products'),
    new Option('--account <username>', 'for this buyer; default without --group: all buyers'),
    new Option('--group <name>', 'for the buyers of this price group').argParser(priceGroup),
  ];
}

async function targetOf({ product, category, all, account, group }: TargetOptions): Promise<MarkupTarget> {
  if ([product, category, all].filter((each) => each !== undefined).length !== 1) {
    throw new UsageError('Give exactly one of --product, --category and --all.');
  }
  refuseBoth({ account, group });
  const { requireAccount } = await import('../../src/accounts/find-account.js');
  return {
    buyer: account === undefined ? null : await requireAccount(account),
    priceGroup: group,
    productCode: product,
    category,
  };
}

function refuseBoth({ account, group }: { account?: string | undefined; group?: string | undefined }): void {
  if (account !== undefined && group !== undefined) {
    throw new UsageError('Give --account or --group, not both.');
  }
}

function registerGroups(group: Command): void {
  defineCommand<{ after?: string; limit: number }>(group, {
    usage: 'groups',
    action: 'markup.look',
    summary: 'List the price groups with their accounts',
    details:
      'A group exists as soon as a markup or an account names it. Put an account into one: topup account group. List its accounts: topup account list --group.',
    examples: ['markup groups'],
    options: [new Option('--after <name>', 'start after this group'), limitOption()],
    async run({ options }) {
      const { groupAccountsCountedMax, listPriceGroups } =
        await import('../../src/providers/price-groups.js');
      const { groups, next } = await listPriceGroups(options);
      const counted = (accounts: number) =>
        accounts < groupAccountsCountedMax ? String(accounts) : `${accounts} or more`;
      return {
        data: { groups, next },
        text: [
          groups.length === 0
            ? 'There is no price group.'
            : table(
                ['group', 'accounts'],
                groups.map(({ name, accounts }) => [name, counted(accounts)]),
                [1],
              ),
          ...(next === null ? [] : [`More: --after ${next}`]),
        ].join('\n'),
      };
    },
  });
}

function percent(value: string): number {
  if (!/^\d{1,3}(\.\d{1,2})?$/.test(value) || Number(value) > 100) {
    throw new InvalidArgumentError('The value must be a number from 0 to 100 with at most two decimals.');
  }
  return Number(value);
}

function describeBuyer({ account, group }: { account: string | null; group: string | null }): string {
  return account ?? (group === null ? 'all' : `group ${group}`);
}

function formatMarkup(of: { percent: number | null; rupiah: number | null }): string {
  return of.percent === null ? rupiah(of.rupiah ?? 0) : `${of.percent} %`;
}
