import { Option, type Command } from 'commander';
import type { CatalogueItem, CatalogueOffer } from '../../src/providers/catalogue.js';
import type { ProductStatus } from '../../src/products/product.model.js';
import { defineCommand, defineGroup } from './define-command.js';
import { facts, heading, rupiah, status, table } from './format.js';
import { limitOption, reasonOption, wholeNumber } from './options.js';
import { UsageError } from './usage-error.js';

const margins =
  'commission  what the platform keeps of the price.\ncost        what the provider of the seller asks; a dash where it does not tell.\nmargin      what the seller has left: price - commission - cost.';

/** `topup product …`: what is on sale, at which price, and what is left of it. */
export function registerProduct(program: Command): void {
  const group = defineGroup(program, 'product', 'What is on sale, and what is left of each price');
  registerList(group);
  registerShow(group);
  registerSet(group);
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

interface SetOptions {
  seller: string;
  price?: number;
  status?: ProductStatus;
  belowCost?: boolean;
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
    ],
    options: [
      new Option('--seller <username>', 'whose offer').makeOptionMandatory(),
      new Option('--price <rupiah>', 'what buyers pay').argParser(wholeNumber(0, 1_000_000_000_000)),
      new Option('--status <status>', 'whether it is sold').choices(['active', 'inactive', 'maintenance']),
      new Option('--below-cost', 'also at a price that does not bring in what it costs'),
      reasonOption(),
    ],
    async run({ arg, options: { seller, price, status: word, belowCost }, by }) {
      if (price === undefined && word === undefined) {
        throw new UsageError('Say what to set: --price, --status.');
      }
      const [{ setOffer }, { requireAccount }] = await Promise.all([
        import('../../src/providers/set-offer.js'),
        import('../../src/accounts/require-account.js'),
      ]);
      const { _id: sellerId } = await requireAccount(seller);
      const offer = await setOffer({ code: arg('code'), sellerId, price, status: word, belowCost }, by);
      return { data: offer, text: table(offerHead, [cellsOf(offer)], [2, 3, 4, 5]) };
    },
  });
}
