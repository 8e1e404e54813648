import Joi from 'joi';
import { text, nameSchema } from '../../api/contract/fields.js';
import { reviewOutcomes, type ReviewOutcome } from '../../purchases/review/review-decisions.js';
import { purchaseStatuses } from '../../purchases/purchase.model.js';
import { resolveReview } from '../../purchases/review/resolve-review.js';
import {
  defineConsoleOperation,
  idParams,
  reason,
  requiredObject,
  type Reason,
  reasonBody,
} from '../api/console-operation.js';
import { reverseByOperator } from '../../purchases/review/reverse-by-operator.js';

interface Body extends Reason {
  as: ReviewOutcome;
  /** The provider's serial number, for the decision `success`. */
  serial_number?: string;
}

export const decidedData = nameSchema(
  'DecidedPurchase',
  requiredObject({
    id: Joi.string(),
    status: Joi.string().valid(...purchaseStatuses),
  }),
);

export const decidePurchase = defineConsoleOperation({
  id: 'decidePurchase',
  method: 'post',
  path: '/purchases/:id/decide',
  action: 'review.resolve',
  summary: 'Decide a purchase under review, or let the workers query its provider again',
  params: idParams,
  body: Joi.object<Body>({
    as: Joi.string()
      .valid(...reviewOutcomes)
      .required(),
    serial_number: text(200).min(1).when('as', { not: 'success', then: Joi.forbidden() }),
    reason,
  }),
  data: decidedData,
  async handle({ params: { id }, body, by }) {
    const decided = await resolveReview(
      id,
      body.as === 'success'
        ? { outcome: 'success', serialNumber: body.serial_number ?? null }
        : { outcome: body.as },
      by,
    );
    return { id: decided._id, status: decided.status };
  },
});

export const reversePurchase = defineConsoleOperation({
  id: 'reversePurchase',
  method: 'post',
  path: '/purchases/:id/reverse',
  action: 'review.reverse',
  summary: 'Reverse a sale: the buyer gets the price back, the seller loses its share',
  params: idParams,
  body: reasonBody,
  data: decidedData,
  async handle({ params: { id }, by }) {
    const reversed = await reverseByOperator(id, by);
    return { id: reversed._id, status: reversed.status };
  },
});
