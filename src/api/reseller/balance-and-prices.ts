import { getWallet } from '../../money/wallets/wallet-balance.js';
import Joi from 'joi';
import { failWhenMongoIsDown } from '../http/mongo-timeout.js';
import { defineResellerOperation } from './reseller-operation.js';
import { say } from '../../shared/say.js';
import { getPriceList } from '../../providers/price-list.js';
import { text } from '../contract/fields.js';
import { JsonList } from '../http/send-response.js';

export const getResellerBalance = defineResellerOperation({
  id: 'getResellerBalance',
  path: '/api/reseller/balance',
  summary: 'Wallet balance',
  description: 'sign: HMAC-SHA256(api_key, "username|depo"), or md5(username + api_key + "depo").',
  query: Joi.object({}),
  answer: {
    balance: Joi.number().required(),
    currency: Joi.string().valid('IDR').required(),
  },
  signed: () => ({ md5Covers: 'depo', hmacCovers: 'depo' }),
  async handle({ account }) {
    const { balance } = await failWhenMongoIsDown(getWallet(account._id));
    return { status: '00', message: say('success'), balance, currency: 'IDR' };
  },
});

interface Query {
  category: string;
  operator?: string;
}

export const getResellerPriceList = defineResellerOperation<Query>({
  id: 'getResellerPriceList',
  path: '/api/reseller/price-list',
  summary: 'Products with the best current price',
  description:
    'sign: HMAC-SHA256(api_key, "username|pricelist"), or md5(username + api_key + "pricelist"). `category` ' +
    'is prabayar (the default), pascabayar, or a subcategory such as pulsa. This surface sells only prabayar.',
  query: Joi.object<Query>({
    category: text(50).default('prabayar'),
    operator: text(50).example('Telkomsel'),
  }),
  answer: {
    data: Joi.array()
      .items(
        Joi.object({
          code: Joi.string().required(),
          name: Joi.string().required(),
          price: Joi.number().required(),
          status: Joi.string().valid('active', 'maintenance').required(),
        }),
      )
      .required(),
  },
  signed: () => ({ md5Covers: 'pricelist', hmacCovers: 'pricelist' }),
  async handle({ account, query }) {
    const products = await failWhenMongoIsDown(getPriceList({ ...query, buyer: account }));
    return {
      status: '00',
      message: say('success'),
      data: new JsonList(products).map(({ product, price, status }) => ({
        code: product._id,
        name: product.name,
        price,
        status,
      })),
    };
  },
});
