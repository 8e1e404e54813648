import Joi from 'joi';
import { listSellerProducts } from '../../products/list-seller-products.js';
import { defineOperation } from '../operation.js';
import { presentProduct } from '../present-product.js';
import { productData } from '../schemas.js';

export const listProducts = defineOperation({
  id: 'listSellerProducts',
  method: 'get',
  path: '/api/seller/products',
  role: 'seller',
  tag: 'Seller',
  summary: 'Products that you sell, inactive ones too, with your own prices',
  data: Joi.array().items(productData),
  async handle({ account }) {
    return { data: (await listSellerProducts(account._id)).map(presentProduct) };
  },
});
