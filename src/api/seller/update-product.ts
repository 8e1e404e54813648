import Joi from 'joi';
import { limits } from '../../../config/limits.js';
import type { ProductStatus } from '../../products/product.model.js';
import { updateProduct as update } from '../../products/update-product.js';
import { rupiah, text } from '../fields.js';
import { defineOperation } from '../operation.js';

interface Body {
  price?: number;
  status?: ProductStatus;
  description?: string;
}

interface Params {
  code: string;
}

export const updateProduct = defineOperation<Body, Params>({
  id: 'updateProduct',
  method: 'put',
  path: '/api/seller/products/:code',
  role: 'seller',
  tag: 'Seller',
  summary: 'Change price, status or description of your product',
  description: 'Purchases that were accepted keep the price they were accepted at.',
  params: Joi.object<Params>({ code: text(50).required().example('S10') }),
  body: Joi.object<Body>({
    price: rupiah({ min: 0, max: limits.moneyMax }),
    status: Joi.string().valid('active', 'inactive', 'maintenance'),
    description: text(500).allow(''),
  }),
  data: Joi.object({
    code: Joi.string().required(),
    name: Joi.string().required(),
    price: Joi.number().required(),
    status: Joi.string().valid('active', 'inactive', 'maintenance').required(),
  }),
  failures: [404],
  async handle({ account, body, params }) {
    const { product, price, status } = await update({ ...body, sellerId: account._id, code: params.code });
    return { message: 'Product updated', data: { code: product._id, name: product.name, price, status } };
  },
});
