import { getWallet } from '../../money/wallets/wallet-balance.js';
import { defineOperation } from '../contract/operation.js';
import {
  balanceData,
  presentProduct,
  productData,
  presentWalletTransaction,
  walletPurchaseData,
} from '../contract/resources.js';
import Joi from 'joi';
import { getPriceList } from '../../providers/price-list.js';
import type { ProductStatus } from '../../products/product.model.js';
import { caseInsensitive, text, zoneQuery, type ZoneQuery } from '../contract/fields.js';
import { JsonList } from '../http/send-response.js';
import { computeProductsDigest } from '../http/etag.js';
import { findPurchase } from '../../purchases/find-purchase.js';

export const getWalletBalance = defineOperation({
  id: 'getWalletBalance',
  method: 'get',
  needs: 'trade',
  path: '/v1/wallet/balance',
  role: 'buyer',
  tag: 'Wallet',
  summary: 'Wallet balance',
  description: 'The spendable balance. Accepted purchases are already debited.',
  data: balanceData,
  async handle({ account }) {
    const wallet = await getWallet(account._id);
    return { data: { balance: wallet.balance, currency: 'IDR' } };
  },
});

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
  summary: 'Products with the best current price',
  description:
    '`category` is prabayar or pascabayar, or a subcategory such as pulsa. Inactive products are left out.',
  query: Joi.object<Query>({
    category: text(50).example('prabayar'),
    subcategory: text(50).example('pulsa'),
    operator: text(50).example('Telkomsel'),
    status: caseInsensitive(['active', 'inactive', 'maintenance'] as const),
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

interface Params {
  id: string;
}

export const getWalletTransaction = defineOperation<unknown, Params, ZoneQuery>({
  id: 'getWalletTransaction',
  method: 'get',
  needs: 'trade',
  path: '/v1/transactions/:id',
  role: 'buyer',
  tag: 'Wallet',
  summary: 'Status of a transaction, by our id or your ref_id',
  description: 'Use it if no callback arrived. PENDING and PROCESSING are in progress, the others are final.',
  params: Joi.object<Params>({ id: text(64).required() }),
  query: zoneQuery,
  data: walletPurchaseData,
  failures: [404],
  async handle({ account, params, query }) {
    return { data: presentWalletTransaction(await findPurchase(account._id, params.id), query.tz) };
  },
});
