import Joi from 'joi';
import { limits } from '../../../config/limits.js';
import { findByRefs } from '../../purchases/find-by-refs.js';
import { refId, tz } from '../fields.js';
import { defineOperation } from '../operation.js';
import { presentBuyerTransaction } from '../presenters.js';
import { buyerTransactionData } from '../schemas.js';

interface LookupBody {
  ref_ids: string[];
  tz?: string;
}

export const lookupBuyerTransactions = defineOperation<LookupBody>({
  id: 'lookupBuyerTransactions',
  method: 'post',
  needs: 'trade',
  path: '/api/buyer/transactions/lookup',
  role: 'buyer',
  tag: 'Buyer',
  summary: 'Many transactions, by your ref_ids',
  description:
    'For those whose answers were lost. In the order that you ask; what we do not know is in `not_found`: repeat that purchase with its ref_id.',
  body: Joi.object<LookupBody>({
    ref_ids: Joi.array()
      .items(refId)
      .min(1)
      .max(limits.lookupMax)
      .required()
      .example(['order-20240301-0001', 'order-20240301-0009']),
    tz,
  }),
  data: Joi.object({
    transactions: Joi.array().items(buyerTransactionData).required(),
    not_found: Joi.array().items(Joi.string()).required(),
  }),
  async handle({ account, body }) {
    const asked = [...new Set(body.ref_ids)];
    const found = await findByRefs(account._id, asked);
    return {
      data: {
        transactions: asked
          .flatMap((ref) => found.get(ref) ?? [])
          .map((each) => presentBuyerTransaction(each, body.tz)),
        not_found: asked.filter((ref) => !found.has(ref)),
      },
    };
  },
});
