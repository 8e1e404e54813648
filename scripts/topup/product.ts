import { InvalidArgumentError, Option, type Command } from 'commander';
import { limits } from '../../config/limits.js';
import type { CatalogueItem, CatalogueOffer } from '../../src/providers/catalogue.js';
import type { OfferFigures } from '../../src/providers/imports/price-import.model.js';
import type { ProductStatus } from '../../src/products/product.model.js';
import { defineCommand, defineGroup } from './define-command.js';
import { facts, heading, rupiah, status, table, time } from './format.js';
import { registerPriceImport } from './price-import.js';
import { day, limitOption, reasonOption, wholeNumber } from './options.js';
import { UsageError } from './usage-error.js';

const margins =
  'commission  what the platform keeps of the price.\ncost        what the provider of the seller asks; a dash where it does not tell.\nmargin      what the seller has left: price - commission - cost.';

/** `topup product …`: what is on sale, at which price, and what is left of it. */
export function registerProduct(program: Command): void {
  const group = defineGroup(program, 'product', 'What is on sale, and what is left of each price');
  registerList(group);
  registerShow(group);
  registerChanges(group);
  registerSet(group);
  registerPriceImport(group);
}

function registerList(group: Command): void {
  defineCommand<{ prefix?: string; seller?: string; after?: string; limit: number }>(group, {
    usage: 'list',
    action: 'product.look',
    summary: 'List products by code, with their offers',
    details: margins,
    examples: ['product list --prefix PLN', 'product list --seller grosir --json'],
    options: [
      new Option('--prefix <text>', 'codes that begin so'),
      new Option('--seller <username>', 'what this seller offers'),
      new Option('--after <code>', 'those after this one'),
      limitOption(),
    ],
    async run({ options: { prefix, seller, after, limit } }) {
      const [{ pageOfCatalogue }, { requireAccount }] = await Promise.all([
        import('../../src/providers/catalogue.js'),
        import('../../src/accounts/require-account.js'),
      ]);
      const sellerId = seller === undefined ? undefined : (await requireAccount(seller))._id;
      const { items, next } = await pageOfCatalogue({ prefix, sellerId, after, limit });
      return {
        data: { products: items, next },
        text: [
          items.length === 0
            ? 'No product fits.'
            : table(['code', 'name', 'status', ...offerHead], items.flatMap(rowsOf), [5, 6, 7, 8]),
          ...(next === null ? [] : [`More: --after ${next}`]),
        ].join('\n'),
      };
    },
  });
}

const offerHead = ['seller', 'offer', 'price', 'commission', 'cost', 'margin'];

function rowsOf({ product, offers }: CatalogueItem): string[][] {
  const of = [product._id, product.name, status(product.status)];
  return offers.length === 0
    ? [of]
    : offers.map((offer, at) => [...(at === 0 ? of : ['', '', '']), ...cellsOf(offer)]);
}

function cellsOf({ seller, status: word, price, commission, cost, margin }: CatalogueOffer): string[] {
  const amount = (value: number | null) => (value === null ? '-' : rupiah(value));
  return [seller, status(word), rupiah(price), rupiah(commission), amount(cost), amount(margin)];
}

function registerShow(group: Command): void {
  defineCommand(group, {
    usage: 'show <code>',
    action: 'product.look',
    summary: 'Show a product with its offers',
    details: margins,
    examples: ['product show S10'],
    async run({ arg }) {
      const { catalogueItem } = await import('../../src/providers/catalogue.js');
      const found = await catalogueItem(arg('code'));
      const { product, offers } = found;
      return {
        data: found,
        text: [
          facts([
            ['code', product._id],
            ['name', product.name],
            ['status', product.status],
            ['category', `${product.category} / ${product.subcategory}`],
            ['operator', product.operator],
            ['cut-off', product.cutOff && `${product.cutOff.start} to ${product.cutOff.end}`],
          ]),
          heading('Offers'),
          table(offerHead, offers.map(cellsOf), [2, 3, 4, 5]),
        ].join('\n'),
      };
    },
  });
}

function registerChanges(group: Command): void {
  defineCommand<{ since?: string; seller?: string; limit: number }>(group, {
    usage: 'changes',
    action: 'product.look',
    summary: 'List what changed in prices, costs and status of offers, newest first',
    details:
      "Since the beginning of yesterday, unless you say a day. Costs of a provider's own price list are not in it.",
    examples: ['product changes', 'product changes --since 2026-11-01 --seller grosir --json'],
    options: [
      new Option('--since <day>', 'YYYY-MM-DD, business time').argParser(day),
      new Option('--seller <username>', 'what became of the offers of this seller'),
      limitOption(),
    ],
    async run({ options: { since, seller, limit } }) {
      const [{ offerChanges }, { requireAccount }, { startOf, startOfYesterday }] = await Promise.all([
        import('../../src/providers/imports/offer-history.js'),
        import('../../src/accounts/require-account.js'),
        import('../../src/shared/business-time.js'),
      ]);
      const sellerId = seller === undefined ? undefined : (await requireAccount(seller))._id;
      const from = since === undefined ? startOfYesterday() : startOf(since);
      const found = await offerChanges({ since: from, sellerId }, { limit });
      const rows = found.changes.map(({ at, code, seller: of, was, is, actor, reason }) => [
        time(at),
        code,
        of,
        changeText(was, is),
        actor,
        reason ?? '-',
      ]);
      const more = found.next === null ? [] : ['There are more: take a later --since, or a higher --limit.'];
      return {
        data: found,
        text: [
          rows.length === 0
            ? `Nothing changed since ${time(from)}.`
            : table(['at', 'code', 'seller', 'change', 'who', 'why'], rows),
          ...more,
        ].join('\n'),
      };
    },
  });
}

/** `price Rp 10.000 -> Rp 10.500, status active -> maintenance`. */
function changeText(was: Partial<OfferFigures>, is: Partial<OfferFigures>): string {
  const shown = (value: string | number | null | undefined) =>
    typeof value === 'number' ? rupiah(value) : (value ?? 'none');
  return (['price', 'cost', 'status'] as const)
    .filter((field) => field in is)
    .map((field) => `${field} ${shown(was[field])} -> ${shown(is[field])}`)
    .join(', ');
}

interface SetOptions {
  seller?: string;
  price?: number;
  status?: ProductStatus;
  belowCost?: boolean;
  cutOff?: { start: string; end: string } | 'none';
}

/** `23:00-01:00`, or `none`. */
function cutOffOf(text: string): { start: string; end: string } | 'none' {
  const [, start = '', end = ''] =
    /^((?:[01]\d|2[0-3]):[0-5]\d)-((?:[01]\d|2[0-3]):[0-5]\d)$/.exec(text) ?? [];
  if (text !== 'none' && (start === '' || start === end)) {
    throw new InvalidArgumentError('Hours such as 23:00-01:00, in business time, or none.');
  }
  // Not null: commander takes that for a value that is missing.
  return text === 'none' ? text : { start, end };
}

function hoursOf(cutOff: { start: string; end: string } | null): string {
  return cutOff ? `${cutOff.start} to ${cutOff.end}` : 'none';
}

function registerSet(group: Command): void {
  defineCommand<SetOptions>(group, {
    usage: 'set <code>',
    action: 'product.set',
    summary: "Change a seller's offer: its price, whether it is sold",
    details:
      'Holds for the next purchase; those that were accepted keep their price. The status of the seller that made the product is that of the product: in maintenance or inactive nobody sells it.',
    examples: [
      'product set S10 --seller grosir --price 10450 --reason "their list of today"',
      'product set S10 --seller grosir --status maintenance --reason "told by mail"',
      'product set PLN20 --cut-off 23:00-01:00 --reason "PLN closes its books"',
    ],
    options: [
      new Option('--seller <username>', 'whose offer, for --price and --status'),
      new Option('--price <rupiah>', 'what buyers pay').argParser(wholeNumber(0, limits.offerPriceMax)),
      new Option('--status <status>', 'whether it is sold').choices(['active', 'inactive', 'maintenance']),
      new Option(
        '--cut-off <hours>',
        'of the whole product: nobody sells it then; none: there are no such hours',
      ).argParser(cutOffOf),
      new Option('--below-cost', 'also at a price that does not bring in what it costs'),
      reasonOption(),
    ],
    async run({ arg, options: { seller, price, status: word, belowCost, cutOff }, by }) {
      const changesOffer = price !== undefined || word !== undefined;
      if (!changesOffer && cutOff === undefined) {
        throw new UsageError('Say what to set: --price, --status, --cut-off.');
      }
      if (changesOffer !== (seller !== undefined)) {
        throw new UsageError('--seller goes with --price and --status: it says whose offer is changed.');
      }
      const [{ setOffer }, { setCutOff }, { catalogueItem }, { requireAccount }] = await Promise.all([
        import('../../src/providers/set-offer.js'),
        import('../../src/products/set-cut-off.js'),
        import('../../src/providers/catalogue.js'),
        import('../../src/accounts/require-account.js'),
      ]);
      const code = arg('code');
      if (cutOff !== undefined) {
        await setCutOff({ code, cutOff: cutOff === 'none' ? null : cutOff }, by);
      }
      if (seller === undefined) {
        const { product } = await catalogueItem(code);
        return {
          data: { code, cut_off: product.cutOff },
          text: facts([['cut-off', hoursOf(product.cutOff)]]),
        };
      }
      const { _id: sellerId } = await requireAccount(seller);
      const offer = await setOffer({ code, sellerId, price, status: word, belowCost }, by);
      return { data: offer, text: table(offerHead, [cellsOf(offer)], [2, 3, 4, 5]) };
    },
  });
}
