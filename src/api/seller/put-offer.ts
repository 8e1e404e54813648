import Joi from 'joi';
import { limits } from '../../../config/limits.js';
import type { ProductStatus } from '../../products/product.model.js';
import { putOffer as put } from '../../products/put-offer.js';
import { rupiah, text } from '../fields.js';
import { getChangedBy } from '../changed-by.js';
import { defineOperation } from '../operation.js';
import { say } from '../../shared/say.js';

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
    'Purchases go to the cheapest active offer whose seller can serve now. Call it again to change it.',
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
