import Joi from 'joi';
import { limits } from '../../../config/limits.js';
import { createProduct as create } from '../../products/create-product.js';
import { maxWaitS, productCode, rupiah, text } from '../fields.js';
import { getChangedBy } from '../changed-by.js';
import { defineOperation } from '../operation.js';
import { presentSellerProduct } from '../present-product.js';
import { sellerProductData } from '../schemas.js';
import { say } from '../../shared/say.js';

interface CreateProductBody {
  code: string;
  name: string;
  category: 'prabayar' | 'pascabayar';
  subcategory: string;
  operator?: string;
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
    'Your price is its first offer. A code that is taken is refused (409), also with the same body.',
  body: Joi.object<CreateProductBody>({
    code: productCode.required(),
    name: text(100).min(1).required().example('Telkomsel 10.000'),
    category: Joi.string().valid('prabayar', 'pascabayar').required(),
    subcategory: text(50).min(1).required().example('pulsa'),
    operator: text(50).min(1).example('Telkomsel'),
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
