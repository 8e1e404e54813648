import Joi from 'joi';
import { requireAccount } from '../../accounts/require-account.js';
import { text, wholeNumber } from '../../api/fields.js';
import { catalogueItem, pageOfCatalogue, type CatalogueItem } from '../../providers/catalogue.js';
import { defineConsoleOperation, shape } from '../api/console-operation.js';

const nullable = Joi.number().allow(null);
const status = Joi.string().valid('active', 'inactive', 'maintenance');

const productData = shape({
  ...{ code: Joi.string(), name: Joi.string(), category: Joi.string(), subcategory: Joi.string() },
  ...{ operator: Joi.string().allow(null), status },
  cut_off: shape({ start: Joi.string(), end: Joi.string() }).allow(null),
  max_wait_s: nullable,
  offers: Joi.array()
    .items(
      shape({
        ...{ seller: Joi.string(), is_owner: Joi.boolean(), status, price: Joi.number() },
        ...{ commission: Joi.number(), cost: nullable, margin: nullable },
        is_available: Joi.boolean().allow(null).description('What its provider says.'),
      }),
    )
    .description(
      'The cheapest first. Rupiah; margin is price − commission − cost, null where the cost is not known.',
    ),
});

export function presentProduct({ product, offers }: CatalogueItem) {
  const { _id, name, category, subcategory, operator, status: word, cutOff, maxWaitS } = product;
  return {
    ...{ code: _id, name, category, subcategory, operator, status: word },
    ...{ cut_off: cutOff, max_wait_s: maxWaitS ?? null },
    offers: offers.map(({ seller, isOwner, status: of, price, commission, cost, margin, isAvailable }) => ({
      ...{ seller, is_owner: isOwner, status: of, price, commission, cost, margin },
      is_available: isAvailable,
    })),
  };
}

interface Query {
  prefix?: string;
  seller?: string;
  after?: string;
  limit: number;
}

export const listProducts = defineConsoleOperation<unknown, unknown, Query>({
  id: 'listProducts',
  method: 'get',
  path: '/products',
  action: 'product.look',
  summary: 'Products by code with their offers, a page at a time',
  query: Joi.object<Query>({
    ...{ prefix: text(50), seller: text(64), after: text(50) },
    limit: wholeNumber({ max: 100, standard: 50 }),
  }),
  data: shape({
    products: Joi.array().items(productData),
    next: Joi.string().allow(null).description('The `after` of the next page.'),
  }),
  async handle({ query: { prefix, seller, after, limit } }) {
    const sellerId = seller === undefined ? undefined : (await requireAccount(seller))._id;
    const { items, next } = await pageOfCatalogue({ prefix, sellerId, after, limit });
    return { products: items.map(presentProduct), next };
  },
});

export const codeParams = Joi.object<{ code: string }>({ code: text(50).required() });

export const getProduct = defineConsoleOperation<unknown, { code: string }>({
  id: 'getProduct',
  method: 'get',
  path: '/products/:code',
  action: 'product.look',
  summary: 'A product with its offers',
  params: codeParams,
  data: productData,
  handle: async ({ params }) => presentProduct(await catalogueItem(params.code)),
});
