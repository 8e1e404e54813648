import Joi from 'joi';
import { limits } from '../../../config/limits.js';
import { createProduct as create } from '../../products/create-product.js';
import { maxWaitS, productCode, rupiah, text } from '../contract/fields.js';
import { getChangedBy, defineOperation } from '../contract/operation.js';
import { presentSellerProduct, sellerProductData } from '../contract/resources.js';
import { say } from '../../shared/say.js';
import type { ProductStatus } from '../../products/product.model.js';
import { updateProduct as update } from '../../products/update-product.js';
import { putOffer as put } from '../../products/put-offer.js';
import { listSellerProducts } from '../../products/read-products.js';
import { JsonList } from '../http/send-response.js';
import { computeProductsDigest } from '../http/etag.js';

interface CreateProductBody {
  code: string;
  name: string;
  category: 'prabayar' | 'pascabayar';
  subcategory: string;
  operator?: string | null;
  price: number;
  status: 'active' | 'inactive';
  max_wait_s: number | null;
}

export const createProduct = defineOperation<CreateProductBody>({
  id: 'createProduct',
  method: 'post',
  needs: 'trade',
  path: '/api/seller/products',
  role: 'seller',
  tag: 'Seller',
  summary: 'Add a product to the catalogue',
  description:
    'Your price is its first offer. A code that is already taken is refused (409), even with the same body.',
  body: Joi.object<CreateProductBody>({
    code: productCode.required(),
    name: text(100).min(1).required().example('Telkomsel 10.000'),
    category: Joi.string().valid('prabayar', 'pascabayar').required(),
    subcategory: text(50).min(1).required().example('pulsa'),
    operator: text(50).min(1).allow(null).example('Telkomsel'),
    price: rupiah({ min: 0, max: limits.moneyMax }).required().example(10_500),
    status: Joi.string().valid('active', 'inactive').default('active'),
    max_wait_s: maxWaitS.default(null),
  }),
  data: sellerProductData,
  successStatuses: [201],
  failures: [409],
  async handle(call) {
    const { account, body } = call;
    const productLimit = account.productLimit ?? limits.productsPerSellerMax;
    const { max_wait_s: maxWait, ...product } = body;
    const created = await create(
      {
        ...product,
        operator: product.operator ?? null,
        maxWaitS: maxWait,
        sellerId: account._id,
        productLimit,
      },
      getChangedBy(call),
    );
    return { httpStatus: 201, message: say('productCreated'), data: presentSellerProduct(created) };
  },
});

interface UpdateProductBody {
  price?: number;
  status?: ProductStatus;
  description?: string;
  max_wait_s?: number | null;
}

interface UpdateProductParams {
  code: string;
}

export const updateProduct = defineOperation<UpdateProductBody, UpdateProductParams>({
  id: 'updateProduct',
  method: 'put',
  needs: 'trade',
  path: '/api/seller/products/:code',
  role: 'seller',
  tag: 'Seller',
  summary: 'Change price, status, description or maximum wait of your product',
  description: 'At least one field must be given. Accepted purchases keep their price and maximum wait.',
  params: Joi.object<UpdateProductParams>({ code: text(50).required().example('S10') }),
  body: Joi.object<UpdateProductBody>({
    price: rupiah({ min: 0, max: limits.moneyMax }),
    status: Joi.string().valid('active', 'inactive', 'maintenance'),
    description: text(500).allow(''),
    max_wait_s: maxWaitS,
  }).or('price', 'status', 'description', 'max_wait_s'),
  data: Joi.object({
    code: Joi.string().required(),
    name: Joi.string().required(),
    price: Joi.number().required(),
    status: Joi.string().valid('active', 'inactive', 'maintenance').required(),
    max_wait_s: Joi.number().allow(null).required(),
  }),
  failures: [404],
  async handle(call) {
    const { account, body, params } = call;
    const { max_wait_s: maxWait, ...change } = body;
    const { product, price, status } = await update(
      { ...change, maxWaitS: maxWait, sellerId: account._id, code: params.code },
      getChangedBy(call),
    );
    return {
      message: say('productUpdated'),
      data: {
        code: product._id,
        name: product.name,
        price,
        status,
        max_wait_s: product.maxWaitS ?? null,
      },
    };
  },
});

interface PutOfferBody {
  price: number;
  status: ProductStatus;
}

interface PutOfferParams {
  code: string;
}

export const putOffer = defineOperation<PutOfferBody, PutOfferParams>({
  id: 'putOffer',
  method: 'post',
  needs: 'trade',
  path: '/api/seller/products/:code/offers',
  role: 'seller',
  tag: 'Seller',
  summary: 'Sell a product of the catalogue at your own price',
  description:
    'Purchases go to the cheapest active offer whose seller is available. Call it again to change the offer.',
  params: Joi.object<PutOfferParams>({ code: text(50).required().example('S10') }),
  body: Joi.object<PutOfferBody>({
    price: rupiah({ min: 0, max: limits.moneyMax }).required().example(10_450),
    status: Joi.string().valid('active', 'inactive', 'maintenance').default('active'),
  }),
  data: Joi.object({
    code: Joi.string().required(),
    price: Joi.number().required(),
    status: Joi.string().required(),
  }),
  failures: [404, 409],
  async handle(call) {
    const { account, body, params } = call;
    const productLimit = account.productLimit ?? limits.productsPerSellerMax;
    const offer = await put(
      { ...body, sellerId: account._id, productCode: params.code, productLimit },
      getChangedBy(call),
    );
    return {
      message: say('offerSaved'),
      data: { code: offer.productCode, price: offer.price, status: offer.status },
    };
  },
});

export const listProducts = defineOperation({
  id: 'listSellerProducts',
  method: 'get',
  needs: 'trade',
  path: '/api/seller/products',
  role: 'seller',
  tag: 'Seller',
  summary: 'Products that you sell, including inactive ones, with your prices',
  description: 'The complete list in one response, ordered by code.',
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
