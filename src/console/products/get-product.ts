import Joi from 'joi';
import { text } from '../../api/fields.js';
import { catalogueItem } from '../../providers/catalogue.js';
import { defineConsoleOperation } from '../api/console-operation.js';
import { presentProduct, productData } from './product-data.js';

/** A product in a path. */
export const codeParams = Joi.object<{ code: string }>({ code: text(50).required() });

export const getProduct = defineConsoleOperation({
  id: 'getProduct',
  method: 'get',
  path: '/products/:code',
  action: 'product.look',
  summary: 'A product with its offers',
  params: codeParams,
  data: productData,
  handle: async ({ params }) => presentProduct(await catalogueItem(params.code)),
});
