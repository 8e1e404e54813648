import { InvalidArgumentError, Option, type Command } from 'commander';
import { roundings, type MarginRule } from '../../src/providers/supplier-catalogue/margin-rule.js';
import type {
  CataloguePlan,
  CatalogueRequest,
  SkipReason,
} from '../../src/providers/supplier-catalogue/plan-catalogue.js';
import { defineCommand } from './define-command.js';
import { facts, formatHeading, rupiah, table } from './format.js';
import { optionalReasonOption } from './options.js';
import { UsageError } from './usage-error.js';

interface Options {
  category?: string;
  brand?: string;
  search?: string;
  margin: Pick<MarginRule, 'percent' | 'amount'>;
  round: string;
  map?: Map<string, string>;
  apply?: boolean;
  meant?: boolean;
  reason?: string;
}

/** Maximum number of rows printed per list. `--json` prints all. */
const shownMax = 200;

/** `topup provider import`: products and offers from a provider's price list. */
export function registerProviderImport(group: Command): void {
  defineCommand<Options>(group, {
    usage: 'import <seller>',
    action: 'product.set',
    summary: "Create products and offers from a provider's price list",
    details:
      'Without --apply nothing changes. Each row becomes a new product, or changes price and cost of the offer with the same code at the provider. The price is the cost plus the margin, rounded up. New prices that lose money after the commission, fall by more than half or rise to five times or more need --meant, and so does a --map to a product of another operator or of a very different price.\n\nA code that one of our products has already is skipped, because providers use equal codes for different products. If it is the same product, name it with --map. An interrupted import continues when it is run again. topup product import --undo takes an import back; new products become inactive.',
    examples: [
      'provider import grosir --category Pulsa --margin 2% --round 50',
      'provider import grosir --search telkomsel --margin 1.5%+200 --round 100 --apply --reason "first list"',
      'provider import grosir --margin 500 --map TSEL10=S10 --map TSEL25=S25',
    ],
    options: [
      new Option('--margin <margin>', 'what is added to the cost: 2%, 500, or 1.5%+200')
        .argParser(parseMargin)
        .makeOptionMandatory(),
      new Option('--round <rupiah>', 'round prices up to a multiple')
        .choices(roundings.map(String))
        .default('1'),
      new Option('--category <name>', "only rows of this category, in the provider's words"),
      new Option('--brand <name>', "only rows of this brand, in the provider's words"),
      new Option('--search <text>', 'only rows whose code or name contains this text'),
      new Option('--map <their=our>', 'an existing product for a code of the provider; repeatable').argParser(
        parseMapping,
      ),
      new Option('--apply', 'create and change the offers'),
      new Option('--meant', 'also apply prices that lose money, fall by half or rise fivefold'),
      optionalReasonOption(),
    ],
    async run({ arg, options, by }) {
      const { category, brand, search, margin, round, map, apply, meant } = options;
      if (apply === true && options.reason === undefined) {
        throw new UsageError('Give the reason: --reason.');
      }
      const [{ requireAccount }, { planCatalogue }, { applyCatalogue }] = await Promise.all([
        import('../../src/accounts/find-account.js'),
        import('../../src/providers/supplier-catalogue/plan-catalogue.js'),
        import('../../src/providers/supplier-catalogue/apply-catalogue.js'),
      ]);
      const seller = await requireAccount(arg('seller'));
      const request: CatalogueRequest = {
        group: category,
        brand,
        search,
        margin: { ...margin, roundTo: Number(round) },
        mapped: map,
      };
      if (apply !== true) {
        const plan = await planCatalogue(seller, request);
        return { data: plan, text: `${describePlan(plan)}\n\nNothing was changed. Apply it: --apply` };
      }
      const showProgress = (written: number) => process.stderr.write(`${written} products written\n`);
      const done = await applyCatalogue(seller, { ...request, meant }, by, showProgress);
      const { importId, plan, created, changed, kept } = done;
      return {
        data: { importId, created, changed, kept, skipped: plan.skipped },
        text: [
          `${created} products were created and ${changed} offers changed.`,
          ...(kept.length === 0
            ? []
            : [`Left as they are, because somebody changed them meanwhile: ${kept.join(', ')}`]),
          ...(plan.skipped.length === 0 ? [] : [describeSkipped(plan.skipped)]),
          `To undo this: topup product import --undo ${importId} --reason …`,
        ].join('\n'),
      };
    },
  });
}

/** Parses `2%`, `500` or `1.5%+200`. */
function parseMargin(text: string): Options['margin'] {
  const [, percent, amount] = /^(?:(\d{1,3}(?:\.\d{1,2})?)%)?(?:(?:^|\+)(\d{1,9}))?$/.exec(text) ?? [];
  if (percent === undefined && amount === undefined) {
    throw new InvalidArgumentError('The margin must be such as 2%, 500 or 1.5%+200.');
  }
  return { percent: Number(percent ?? 0), amount: Number(amount ?? 0) };
}

function parseMapping(text: string, before: Map<string, string> | undefined): Map<string, string> {
  const at = text.lastIndexOf('=');
  if (at < 1 || at === text.length - 1) {
    throw new InvalidArgumentError("The mapping must be the provider's code, = and our product code.");
  }
  return new Map([...(before ?? []), [text.slice(0, at), text.slice(at + 1)]]);
}

function describePlan({ rows, creates, changes, skipped }: CataloguePlan): string {
  const created = creates.map(({ sku, listedName, product, cost, price, loses, isUnlike }) => [
    sku,
    product.code,
    listedName,
    `${product.subcategory}${product.operator === null ? '' : ` / ${product.operator}`}`,
    rupiah(cost),
    `${rupiah(price)}${loses ? ' LOSES' : ''}${isUnlike ? ' UNLIKE' : ''}`,
  ]);
  const changed = changes.changes.map(({ code, before, after, loses, falls, rises }) => [
    code,
    rupiah(before.price),
    rupiah(after.price),
    after.cost === null ? '-' : rupiah(after.cost),
    [...(loses ? ['LOSES'] : []), ...(falls ? ['FALLS'] : []), ...(rises ? ['RISES'] : [])].join(' '),
  ]);
  const shown = (heading: string, heads: string[], lines: string[][], ends: number[]) =>
    lines.length === 0 ? [] : [formatHeading(heading), table(heads, lines.slice(0, shownMax), ends)];
  return [
    facts([
      ['rows', String(rows)],
      ['new products', String(creates.length)],
      ['changed offers', String(changes.changes.length)],
      ['unchanged', String(changes.unchanged)],
      ['skipped', String(skipped.length)],
    ]),
    ...shown('New products', ['their code', 'code', 'name', 'kind', 'cost', 'price'], created, [4, 5]),
    ...shown('Changed offers', ['code', 'price', 'new price', 'cost', ''], changed, [1, 2, 3]),
    ...(skipped.length === 0 ? [] : [formatHeading('Skipped'), describeSkipped(skipped)]),
    ...(Math.max(created.length, changed.length) > shownMax
      ? [`Only ${shownMax} of each are shown; --json prints all.`]
      : []),
  ].join('\n');
}

const skipDescriptions: Record<SkipReason, string> = {
  unavailable: 'not sold by the provider now',
  'no-code': 'has no usable code',
  'code-taken': 'one of our products has this code: if it is the same product, use --map',
  'no-product': 'the product named by --map does not exist',
  'other-kind': 'a bill and a prepaid product cannot be the same',
  'already-offered': 'the seller already offers that product',
  'too-expensive': 'the price is above the limit',
  repeated: 'an earlier row has the same code',
};

function describeSkipped(skipped: CataloguePlan['skipped']): string {
  return Object.entries(skipDescriptions)
    .flatMap(([why, text]) => {
      const found = skipped.filter((each) => each.why === why).map(({ sku }) => sku);
      const named = `${found.slice(0, 10).join(', ')}${found.length > 10 ? ', …' : ''}`;
      return found.length === 0 ? [] : `${found.length} skipped (${named}): ${text}`;
    })
    .join('\n');
}
