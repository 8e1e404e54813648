import Joi from 'joi';
import { listSellerProducts } from '../../products/list-seller-products.js';
import { defineOperation } from '../operation.js';
import { presentSellerProduct } from '../present-product.js';
import { sellerProductData } from '../schemas.js';
import { JsonList } from '../send-json.js';
import { computeProductsDigest } from '../validator.js';

export const listProducts = defineOperation({
  id: 'listSellerProducts',
  method: 'get',
  needs: 'trade',
  path: '/api/seller/products',
  role: 'seller',
  tag: 'Seller',
  summary: 'Products that you sell, inactive ones too, with your own prices',
  description: 'The whole list in one answer, by code.',
  data: Joi.array().items(sellerProductData),
  conditional: true,
  async handle({ account }) {
    const products = await listSellerProducts(account._id);
    return {
      data: new JsonList(products).map(presentSellerProduct),
      digest: await computeProductsDigest(products),
    };
  },
});
