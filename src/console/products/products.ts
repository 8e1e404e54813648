import Joi from 'joi';
import {
  type CatalogueItem,
  findCatalogueItem,
  findCataloguePage,
  setOffer,
} from '../../providers/catalogue.js';
import { requiredObject, defineConsoleOperation, reason, type Reason } from '../api/console-operation.js';
import { text, wholeNumber, rupiah, nameSchema } from '../../api/contract/fields.js';
import { requireAccount } from '../../accounts/find-account.js';
import { setCutOff } from '../../products/cut-off.js';
import { limits } from '../../../config/limits.js';
import type { ProductStatus } from '../../products/product.model.js';

const nullable = Joi.number().allow(null);
const status = Joi.string().valid('active', 'inactive', 'maintenance');

/** A product with its offers. */
export const productData = nameSchema(
  'Product',
  requiredObject({
    code: Joi.string(),
    name: Joi.string(),
    category: Joi.string(),
    subcategory: Joi.string(),
    operator: Joi.string().allow(null),
    status,
    cut_off: requiredObject({ start: Joi.string(), end: Joi.string() }).allow(null),
    max_wait_s: nullable,
    offers: Joi.array()
      .items(
        requiredObject({
          seller: Joi.string(),
          is_owner: Joi.boolean(),
          sku: Joi.string().description("The product's code at the seller's provider."),
          status,
          price: Joi.number(),
          commission: Joi.number(),
          cost: nullable,
          margin: nullable,
          is_below_cost: Joi.boolean().description(
            'True if the offer is not sold because its cost is above its price.',
          ),
          is_available: Joi.boolean().allow(null).description('As reported by its provider.'),
        }),
      )
      .description(
        'Cheapest first. In rupiah; margin is price − commission − cost, null if the cost is unknown.',
      ),
  }),
);

export function presentProduct({ product, offers }: CatalogueItem) {
  const { _id, name, category, subcategory, operator, status: word, cutOff, maxWaitS } = product;
  return {
    code: _id,
    name,
    category,
    subcategory,
    operator,
    status: word,
    cut_off: cutOff,
    max_wait_s: maxWaitS ?? null,
    offers: offers.map(
      ({ seller, isOwner, isBelowCost, sku, status: of, price, commission, cost, margin, isAvailable }) => ({
        seller,
        is_owner: isOwner,
        sku,
        status: of,
        price,
        commission,
        cost,
        margin,
        is_below_cost: isBelowCost,
        is_available: isAvailable,
      }),
    ),
  };
}

/** Path parameters of an operation on one product. */
export const codeParams = Joi.object<{ code: string }>({ code: text(50).required() });

export const getProduct = defineConsoleOperation({
  id: 'getProduct',
  method: 'get',
  path: '/products/:code',
  action: 'product.look',
  summary: 'A product with its offers',
  params: codeParams,
  data: productData,
  handle: async ({ params }) => presentProduct(await findCatalogueItem(params.code)),
});

interface Query {
  prefix?: string;
  seller?: string;
  after?: string;
  limit: number;
}

export const listProducts = defineConsoleOperation({
  id: 'listProducts',
  method: 'get',
  path: '/products',
  action: 'product.look',
  summary: 'Products by code with their offers, a page at a time',
  query: Joi.object<Query>({
    prefix: text(50),
    seller: text(64),
    after: text(50),
    limit: wholeNumber({ max: 100, standard: 50 }),
  }),
  data: requiredObject({
    products: Joi.array().items(productData),
    next: Joi.string().allow(null).description('Value of `after` for the next page.'),
  }),
  async handle({ query: { prefix, seller, after, limit } }) {
    const sellerId = seller === undefined ? undefined : (await requireAccount(seller))._id;
    const { items, next } = await findCataloguePage({ prefix, sellerId, after, limit });
    return { products: items.map(presentProduct), next };
  },
});

interface CutOffBody extends Reason {
  cut_off: { start: string; end: string } | null;
}

const timeOfDay = Joi.string()
  .pattern(/^([01]\d|2[0-3]):[0-5]\d$/)
  .max(5)
  .required();

export const setCutOffCall = defineConsoleOperation<CutOffBody, { code: string }>({
  id: 'setCutOff',
  method: 'post',
  path: '/products/:code/cut-off',
  action: 'product.set',
  summary: 'Set the daily cut-off of a product in business time; null removes it',
  params: codeParams,
  body: Joi.object<CutOffBody>({
    cut_off: Joi.object({ start: timeOfDay, end: timeOfDay.invalid(Joi.ref('start')) })
      .allow(null)
      .required(),
    reason,
  }),
  data: requiredObject({}),
  async handle({ params: { code }, body: { cut_off: cutOff }, by }) {
    await setCutOff({ code, cutOff }, by);
    return {};
  },
});

/** A provider writes its codes in its own way, so only blanks at the ends are refused. */
const skuSchema = text(64).pattern(/^\S(?:.*\S)?$/u);

interface OfferBody extends Reason {
  seller: string;
  price?: number;
  status?: ProductStatus;
  sku?: string | null;
  below_cost: boolean;
}

export const setOfferCall = defineConsoleOperation<OfferBody, { code: string }>({
  id: 'setOffer',
  method: 'post',
  path: '/products/:code/offer',
  action: 'product.set',
  summary: "Change a seller's offer for a product; omitted fields keep their values",
  params: codeParams,
  body: Joi.object<OfferBody>({
    seller: text(64).required(),
    price: rupiah({ min: 0, max: limits.offerPriceMax }),
    status: Joi.string().valid('active', 'inactive', 'maintenance'),
    sku: skuSchema.allow(null),
    below_cost: Joi.boolean().default(false),
    reason,
  }).or('price', 'status', 'sku'),
  data: requiredObject({}),
  async handle({ params, body: { seller, price, status, sku, below_cost: belowCost }, by }) {
    const { _id: sellerId } = await requireAccount(seller);
    await setOffer({ code: params.code, sellerId, price, status, sku, belowCost }, by);
    return {};
  },
});
