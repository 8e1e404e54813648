import { InvalidArgumentError, Option, type Command } from 'commander';
import { limits } from '../../config/limits.js';
import type { ProductStatus } from '../../src/products/product.model.js';
import { defineCommand, defineGroup, type CommandCall } from './define-command.js';
import { facts, formatHeading, listText, rupiah, status, time, type Column } from './format.js';
import { defineOperationCommand } from './operation-command.js';
import { registerPriceImport } from './price-import.js';
import { day, limitOption, reasonOption, wholeNumber } from './options.js';
import { UsageError } from './usage-error.js';

const margins =
  'commission  part of the price that the platform keeps.\ncost        price at the provider of the seller; a dash if it is unknown.\nmargin      what the seller has left: price - commission - cost.';

/** `topup product …`: products, prices and margins. */
export function registerProduct(program: Command): void {
  const group = defineGroup(program, 'product', 'Products, prices and margins');
  registerList(group);
  registerShow(group);
  registerChanges(group);
  registerSet(group);
  registerPriceImport(group);
}

function registerList(group: Command): void {
  defineOperationCommand(group, {
    usage: 'list',
    action: 'product.look',
    summary: 'List products by code, with their offers',
    details: margins,
    examples: ['product list --prefix PLN', 'product list --seller grosir --json'],
    options: [
      new Option('--prefix <text>', 'only codes with this prefix'),
      new Option('--seller <username>', 'only offers of this seller'),
      new Option('--after <code>', 'start after this code'),
      limitOption(),
    ],
    operation: async () => (await import('../../src/console/products/products.js')).listProducts,
    output: (data) => ({
      data,
      text: listText(data.products.flatMap(linesOf), {
        columns: [
          ['code', ({ product, isFirst }) => (isFirst ? product.code : '')],
          ['name', ({ product, isFirst }) => (isFirst ? product.name : '')],
          ['status', ({ product, isFirst }) => (isFirst ? status(product.status) : '')],
          ...offerColumns,
        ],
        empty: 'No product matches.',
        next: data.next,
      }),
    }),
  });
}

interface Offer {
  seller: string;
  sku: string;
  status: string;
  price: number;
  commission: number;
  cost: number | null;
  margin: number | null;
  is_below_cost: boolean;
}

const offerColumns: Column<{ offer: Offer | undefined }>[] = [
  ['seller', ({ offer }) => offer?.seller ?? ''],
  ['code there', ({ offer }) => offer?.sku ?? ''],
  [
    'offer',
    ({ offer }) =>
      offer ? `${status(offer.status)}${offer.is_below_cost ? ', below cost: not sold' : ''}` : '',
  ],
  ['price', ({ offer }) => offer?.price ?? ''],
  ['commission', ({ offer }) => offer?.commission ?? ''],
  ['cost', ({ offer }) => (offer ? offer.cost : '')],
  ['margin', ({ offer }) => (offer ? offer.margin : '')],
];

/** Returns one line per offer. A product without offers also gets one line. */
function linesOf<P extends { offers: Offer[] }>(product: P) {
  const offers = product.offers.length === 0 ? [undefined] : product.offers;
  return offers.map((offer, at) => ({ product, offer, isFirst: at === 0 }));
}

function formatOffers(offers: Offer[]): string {
  return listText(
    offers.map((offer) => ({ offer })),
    { columns: offerColumns, empty: 'No seller offers it.' },
  );
}

function registerShow(group: Command): void {
  defineOperationCommand(group, {
    usage: 'show <code>',
    action: 'product.look',
    summary: 'Show a product with its offers',
    details: margins,
    examples: ['product show S10'],
    operation: async () => (await import('../../src/console/products/products.js')).getProduct,
    output: (data) => ({
      data,
      text: [
        facts([
          ['code', data.code],
          ['name', data.name],
          ['status', data.status],
          ['category', `${data.category} / ${data.subcategory}`],
          ['operator', data.operator],
          ['cut-off', data.cut_off && `${data.cut_off.start} to ${data.cut_off.end}`],
        ]),
        formatHeading('Offers'),
        formatOffers(data.offers),
      ].join('\n'),
    }),
  });
}

function registerChanges(group: Command): void {
  defineOperationCommand(group, {
    usage: 'changes',
    action: 'product.look',
    summary: 'List changes of prices, costs and status of offers, newest first',
    details:
      "Since the start of yesterday, unless you give a day. Costs from a provider's price list are not included.",
    examples: ['product changes', 'product changes --since 2026-11-01 --seller grosir --json'],
    options: [
      new Option('--since <day>', 'YYYY-MM-DD, business time').argParser(day),
      new Option('--seller <username>', 'only offers of this seller'),
      limitOption(),
    ],
    operation: async () => (await import('../../src/console/imports/list-price-imports.js')).listOfferChanges,
    input: ({ options: { since } }: CommandCall<{ since?: string }>) => ({ since: undefined, from: since }),
    output(data) {
      const more = data.next === null ? '' : '\nThere are more: use a later --since or a higher --limit.';
      const listed = listText(data.changes, {
        columns: [
          'at',
          'code',
          'seller',
          ['change', ({ was, is }) => formatChange(was, is)],
          ['who', ({ actor }) => actor],
          ['why', ({ reason }) => reason],
        ],
        empty: `Nothing changed since ${time(data.since)}.`,
      });
      return { data, text: `${listed}${more}` };
    },
  });
}

/** Formats `price Rp 10.000 -> Rp 10.500, status active -> maintenance`. */
function formatChange(was: Figures, is: Figures): string {
  const shown = (value: string | number | null) =>
    typeof value === 'number' ? rupiah(value) : (value ?? 'none');
  return (['price', 'cost', 'status'] as const)
    .filter((field) => was[field] !== is[field])
    .map((field) => `${field} ${shown(was[field])} -> ${shown(is[field])}`)
    .join(', ');
}

interface Figures {
  price: number | null;
  cost: number | null;
  status: string | null;
}

interface SetOptions {
  seller?: string;
  price?: number;
  status?: ProductStatus;
  sku?: string;
  belowCost?: boolean;
  cutOff?: { start: string; end: string } | 'none';
}

/** Parses `23:00-01:00` or `none`. */
function cutOffOf(text: string): { start: string; end: string } | 'none' {
  const [, start = '', end = ''] =
    /^((?:[01]\d|2[0-3]):[0-5]\d)-((?:[01]\d|2[0-3]):[0-5]\d)$/.exec(text) ?? [];
  if (text !== 'none' && (start === '' || start === end)) {
    throw new InvalidArgumentError('The value must be hours in business time, such as 23:00-01:00, or none.');
  }
  // Returns no null, because Commander would treat it as a missing value.
  return text === 'none' ? text : { start, end };
}

function hoursOf(cutOff: { start: string; end: string } | null): string {
  return cutOff ? `${cutOff.start} to ${cutOff.end}` : 'none';
}

function registerSet(group: Command): void {
  defineCommand<SetOptions>(group, {
    usage: 'set <code>',
    action: 'product.set',
    summary: "Change a seller's offer or a product's cut-off",
    details:
      'Takes effect with the next purchase; accepted purchases keep their price. The status of the seller who created the product is also the status of the product: if it is maintenance or inactive, no seller sells it.',
    examples: [
      'product set S10 --seller grosir --price 10450 --reason "their list of today"',
      'product set S10 --seller grosir --status maintenance --reason "informed by mail"',
      'product set S10 --seller grosir --sku TSEL10 --reason "their new code"',
      'product set PLN20 --cut-off 23:00-01:00 --reason "PLN closes its books"',
    ],
    options: [
      new Option('--seller <username>', 'seller of the offer, for --price, --status and --sku'),
      new Option('--price <rupiah>', 'what buyers pay').argParser(wholeNumber(0, limits.offerPriceMax)),
      new Option('--status <status>', 'whether it is sold').choices(['active', 'inactive', 'maintenance']),
      new Option(
        '--cut-off <hours>',
        'daily hours in which no seller sells the product; none removes them',
      ).argParser(cutOffOf),
      new Option('--sku <code>', "the product's code at the provider of the seller"),
      new Option('--below-cost', 'accept a price below the cost'),
      reasonOption(),
    ],
    async run({ arg, options: { seller, price, status: word, sku, belowCost, cutOff }, by }) {
      const changesOffer = [price, word, sku].some((each) => each !== undefined);
      if (!changesOffer && cutOff === undefined) {
        throw new UsageError('Give at least one of --price, --status, --sku and --cut-off.');
      }
      if (changesOffer !== (seller !== undefined)) {
        throw new UsageError('--seller names the offer for --price, --status and --sku. Use them together.');
      }
      const [{ setOffer }, { setCutOff }, { findCatalogueItem }, { requireAccount }] = await Promise.all([
        import('../../src/providers/catalogue.js'),
        import('../../src/products/cut-off.js'),
        import('../../src/providers/catalogue.js'),
        import('../../src/accounts/find-account.js'),
      ]);
      const code = arg('code');
      if (cutOff !== undefined) {
        await setCutOff({ code, cutOff: cutOff === 'none' ? null : cutOff }, by);
      }
      if (seller === undefined) {
        const { product } = await findCatalogueItem(code);
        return {
          data: { code, cut_off: product.cutOff },
          text: facts([['cut-off', hoursOf(product.cutOff)]]),
        };
      }
      const { _id: sellerId } = await requireAccount(seller);
      const offer = await setOffer({ code, sellerId, price, status: word, sku, belowCost }, by);
      return { data: offer, text: formatOffers([{ ...offer, is_below_cost: offer.isBelowCost }]) };
    },
  });
}
