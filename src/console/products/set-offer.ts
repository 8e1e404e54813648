import Joi from 'joi';
import { limits } from '../../../config/limits.js';
import { requireAccount } from '../../accounts/require-account.js';
import { rupiah, text } from '../../api/fields.js';
import type { ProductStatus } from '../../products/product.model.js';
import { setOffer } from '../../providers/set-offer.js';
import { defineConsoleOperation, reason, shape, type Reason } from '../api/console-operation.js';
import { codeParams } from './get-product.js';

interface OfferBody extends Reason {
  seller: string;
  price?: number;
  status?: ProductStatus;
  below_cost: boolean;
}

export const setOfferCall = defineConsoleOperation<OfferBody, { code: string }>({
  id: 'setOffer',
  method: 'post',
  path: '/products/:code/offer',
  action: 'product.set',
  summary: "Change a seller's offer for a product; what is left out stays",
  params: codeParams,
  body: Joi.object<OfferBody>({
    seller: text(64).required(),
    price: rupiah({ min: 0, max: limits.offerPriceMax }),
    status: Joi.string().valid('active', 'inactive', 'maintenance'),
    below_cost: Joi.boolean().default(false),
    reason,
  }).or('price', 'status'),
  data: shape({}),
  async handle({ params, body: { seller, price, status, below_cost: belowCost }, by }) {
    const { _id: sellerId } = await requireAccount(seller);
    await setOffer({ code: params.code, sellerId, price, status, belowCost }, by);
    return {};
  },
});
