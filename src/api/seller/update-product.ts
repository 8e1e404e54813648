import Joi from 'joi';
import { limits } from '../../../config/limits.js';
import type { ProductStatus } from '../../products/product.model.js';
import { updateProduct as update } from '../../products/update-product.js';
import { maxWaitS, rupiah, text } from '../fields.js';
import { getChangedBy } from '../changed-by.js';
import { defineOperation } from '../operation.js';
import { say } from '../../shared/say.js';

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
  summary: 'Change price, status, description or longest wait of your product',
  description: 'Purchases that were accepted keep the price and the longest wait they were accepted at.',
  params: Joi.object<UpdateProductParams>({ code: text(50).required().example('S10') }),
  body: Joi.object<UpdateProductBody>({
    price: rupiah({ min: 0, max: limits.moneyMax }),
    status: Joi.string().valid('active', 'inactive', 'maintenance'),
    description: text(500).allow(''),
    max_wait_s: maxWaitS,
  }),
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
