import Joi from 'joi';
import { timestamp } from '../fields.js';

/** An item of a seller's history and reports: no buyer identity (decisions.md 14, 17.19). */
export const saleData = Joi.object({
  transaction_id: Joi.string().required(),
  code: Joi.string().required(),
  customer_number: Joi.string().required().description('Masked but for the last four.'),
  product_name: Joi.string().required(),
  price: Joi.number().required(),
  commission_amount: Joi.number().allow(null).required().description('Null until it succeeded.'),
  net_amount: Joi.number().allow(null).required().description('price − commission_amount.'),
  sn: Joi.string().allow(null).required(),
  status: Joi.string().valid('pending', 'processing', 'success', 'failed').required(),
  timestamp: timestamp.required(),
});
