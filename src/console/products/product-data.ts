import Joi from 'joi';
import type { CatalogueItem } from '../../providers/catalogue.js';
import { shape } from '../api/console-operation.js';

const nullable = Joi.number().allow(null);
const status = Joi.string().valid('active', 'inactive', 'maintenance');

/** A product with its offers, as the pages show it. */
export const productData = shape({
  code: Joi.string(),
  name: Joi.string(),
  category: Joi.string(),
  subcategory: Joi.string(),
  operator: Joi.string().allow(null),
  status,
  cut_off: shape({ start: Joi.string(), end: Joi.string() }).allow(null),
  max_wait_s: nullable,
  offers: Joi.array()
    .items(
      shape({
        seller: Joi.string(),
        is_owner: Joi.boolean(),
        status,
        price: Joi.number(),
        commission: Joi.number(),
        cost: nullable,
        margin: nullable,
        is_available: Joi.boolean().allow(null).description('What its provider says.'),
      }),
    )
    .description(
      'The cheapest first. Rupiah; margin is price − commission − cost, null where the cost is not known.',
    ),
});

export function presentProduct({ product, offers }: CatalogueItem) {
  const { _id, name, category, subcategory, operator, status: word, cutOff, maxWaitS } = product;
  return {
    code: _id,
    name,
    category,
    subcategory,
    operator,
    status: word,
    cut_off: cutOff,
    max_wait_s: maxWaitS ?? null,
    offers: offers.map(({ seller, isOwner, status: of, price, commission, cost, margin, isAvailable }) => ({
      seller,
      is_owner: isOwner,
      status: of,
      price,
      commission,
      cost,
      margin,
      is_available: isAvailable,
    })),
  };
}
