import Joi from 'joi';
import { requireAccount } from '../../accounts/require-account.js';
import { text, wholeNumber } from '../../api/fields.js';
import { pageOfCatalogue } from '../../providers/catalogue.js';
import { defineConsoleOperation, shape } from '../api/console-operation.js';
import { presentProduct, productData } from './product-data.js';

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
