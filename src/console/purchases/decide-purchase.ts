import Joi from 'joi';
import { text } from '../../api/fields.js';
import { outcomes, type Outcome } from '../../purchases/review/possible-decisions.js';
import { purchaseStatuses } from '../../purchases/purchase.model.js';
import { resolveReview } from '../../purchases/review/resolve-review.js';
import { defineConsoleOperation, idParams, reason, shape, type Reason } from '../api/console-operation.js';

interface Body extends Reason {
  as: Outcome;
  /** With success: what the provider gave. */
  serial_number?: string;
}

export const decidedData = shape({ id: Joi.string(), status: Joi.string().valid(...purchaseStatuses) });

export const decidePurchase = defineConsoleOperation({
  id: 'decidePurchase',
  method: 'post',
  path: '/purchases/:id/decide',
  action: 'review.resolve',
  summary: 'Decide a purchase under review, or let its provider be asked again',
  params: idParams,
  body: Joi.object<Body>({
    as: Joi.string()
      .valid(...outcomes)
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
