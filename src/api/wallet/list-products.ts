import Joi from 'joi';
import { getPriceList } from '../../providers/price-list.js';
import type { ProductStatus } from '../../products/product.model.js';
import { caseless, text } from '../fields.js';
import { defineOperation } from '../operation.js';
import { presentProduct } from '../present-product.js';
import { productData } from '../schemas.js';
import { JsonList } from '../send-json.js';
import { computeProductsDigest } from '../validator.js';

interface Query {
  category?: string;
  subcategory?: string;
  operator?: string;
  status?: ProductStatus;
}

export const listWalletProducts = defineOperation<unknown, unknown, Query>({
  id: 'listWalletProducts',
  method: 'get',
  needs: 'trade',
  path: '/v1/products',
  role: 'buyer',
  tag: 'Wallet',
  summary: 'Products with the best price now',
  description:
    '`category` is prabayar or pascabayar, or a subcategory such as pulsa. Inactive products are left out.',
  query: Joi.object<Query>({
    category: text(50).example('prabayar'),
    subcategory: text(50).example('pulsa'),
    operator: text(50).example('Telkomsel'),
    status: caseless(['active', 'inactive', 'maintenance'] as const),
  }),
  data: Joi.array().items(productData),
  conditional: true,
  async handle({ account, query }) {
    const filter = { ...query, status: query.status?.toLowerCase(), buyer: account };
    const products = await getPriceList(filter);
    return {
      data: new JsonList(products).map(presentProduct),
      digest: await computeProductsDigest(products),
    };
  },
});
