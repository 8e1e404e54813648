import Joi from 'joi';
import { timestamp } from '../../api/fields.js';
import { purchaseStatuses } from '../../purchases/purchase.model.js';
import { sumPurchases } from '../../purchases/sum-purchases.js';
import { defineConsoleOperation, shape } from '../api/console-operation.js';
import { purchaseFilterFields, purchaseFilterOf, type PurchaseFilterQuery } from './purchase-filter.js';

export const getPurchaseSums = defineConsoleOperation<unknown, unknown, PurchaseFilterQuery>({
  id: 'getPurchaseSums',
  method: 'get',
  path: '/purchases/sums',
  action: 'purchase.look',
  summary: 'What the purchases that fit a filter come to',
  query: Joi.object<PurchaseFilterQuery>(purchaseFilterFields),
  data: shape({
    count: Joi.number(),
    by_status: Joi.array().items(
      shape({
        status: Joi.string().valid(...purchaseStatuses),
        count: Joi.number(),
        amount: Joi.number().description('Rupiah: the prices.'),
      }),
    ),
    commission: Joi.number().description('Rupiah of them that stay with the platform.'),
    looked_back_to: timestamp
      .allow(null)
      .description(
        'These are the newest, back to there: older ones were not looked at. Null: these are all.',
      ),
  }),
  async handle({ query }) {
    const { byStatus, commission, lookedBackTo } = await sumPurchases(await purchaseFilterOf(query));
    return {
      count: byStatus.reduce((all, { count }) => all + count, 0),
      by_status: byStatus,
      commission,
      looked_back_to: lookedBackTo?.toISOString() ?? null,
    };
  },
});
