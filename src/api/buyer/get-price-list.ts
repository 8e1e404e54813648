import Joi from 'joi';
import { getPriceList } from '../../providers/price-list.js';
import { text } from '../contract/fields.js';
import { defineOperation } from '../contract/operation.js';
import { presentProduct, productData } from '../contract/resources.js';
import { JsonList } from '../http/send-response.js';

interface Body {
  category?: string;
  operator?: string;
}

export const getBuyerPriceList = defineOperation<Body>({
  id: 'getBuyerPriceList',
  method: 'post',
  needs: 'trade',
  path: '/api/buyer/price-list',
  role: 'buyer',
  tag: 'Buyer',
  summary: 'Products with the best current price',
  description:
    '`category` is prabayar or pascabayar, or a subcategory such as pulsa. Inactive products are left out.',
  body: Joi.object<Body>({
    category: text(50).example('prabayar'),
    operator: text(50).example('Telkomsel'),
  }),
  data: Joi.array().items(productData),
  async handle({ account, body }) {
    return {
      data: new JsonList(await getPriceList({ ...body, buyer: account })).map(presentProduct),
    };
  },
});
