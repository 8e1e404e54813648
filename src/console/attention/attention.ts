import Joi from 'joi';
import { timestamp, nameSchema } from '../../api/contract/fields.js';
import { findUsernames } from '../../accounts/find-account.js';
import { getPartyIds } from '../../purchases/operator-list.js';
import { listReviews, reviewOutcomes } from '../../purchases/review/review-decisions.js';
import { listCases, resolveCase as closeCase } from '../../purchases/review/cases.js';
import { redactUrlSecrets } from '../../shared/mask.js';
import {
  defineConsoleOperation,
  requiredObject,
  idParams,
  reasonBody,
  type Reason,
} from '../api/console-operation.js';
import { presentPurchase, purchaseData } from '../purchases/present-purchase.js';

/** Maximum number of items per kind. Further items appear once these are decided. */
const shownMax = 100;

const kinds = [
  'review',
  'contradicting-answer',
  'repeated-serial-number',
  'cost-above-maximum',
  'reversal',
  'unmatched-payment',
  'payment-taken-back',
] as const;

export const listAttention = defineConsoleOperation({
  id: 'listAttention',
  method: 'get',
  path: '/attention',
  action: 'purchase.look',
  summary: 'Open cases and purchases under review in one list, oldest first',
  data: requiredObject({
    items: Joi.array().items(
      nameSchema(
        'AttentionItem',
        requiredObject({
          id: Joi.string().description('Id of the case, or of the purchase under review.'),
          kind: Joi.string().valid(...kinds),
          since: timestamp,
          detail: Joi.string(),
          transaction_id: Joi.string().allow(null),
          payment_id: Joi.string().allow(null),
          purchase: purchaseData.allow(null).description('Only for a review.'),
          reference: Joi.string()
            .allow(null)
            .description('Only for a review: the reference of the last order at its provider.'),
          decisions: Joi.array().items(Joi.string().valid(...reviewOutcomes)),
        }),
      ),
    ),
    has_more: Joi.boolean(),
  }),
  async handle() {
    const [cases, reviews] = await Promise.all([
      listCases({ open: true, oldestFirst: true, limit: shownMax }),
      listReviews({ limit: shownMax }),
    ]);
    const usernames = await findUsernames(getPartyIds(reviews.map(({ purchase }) => purchase)));
    const items = [
      ...cases.map(({ _id, kind, createdAt, detail, transactionId, paymentId }) => ({
        id: _id,
        kind,
        since: createdAt.toISOString(),
        detail: redactUrlSecrets(detail),
        transaction_id: transactionId,
        payment_id: paymentId ?? null,
        purchase: null,
        reference: null,
        decisions: [],
      })),
      ...reviews.map(({ purchase, orders, decisions }) => ({
        id: purchase._id,
        kind: 'review',
        since: (purchase.reviewSince ?? purchase.updatedAt).toISOString(),
        detail: redactUrlSecrets(purchase.reviewReason ?? ''),
        transaction_id: purchase._id,
        payment_id: null,
        purchase: presentPurchase(purchase, usernames),
        reference: orders.at(-1)?._id ?? null,
        decisions,
      })),
    ].sort((a, b) => a.since.localeCompare(b.since));
    return { items, has_more: cases.length === shownMax || reviews.length === shownMax };
  },
});

export const resolveCase = defineConsoleOperation<Reason, { id: string }>({
  id: 'resolveCase',
  method: 'post',
  path: '/cases/:id/resolve',
  action: 'case.resolve',
  summary: 'Resolve a case; this moves no money',
  params: idParams,
  body: reasonBody,
  data: requiredObject({ id: Joi.string(), changed: Joi.boolean() }),
  async handle({ params: { id }, by }) {
    const { changed } = await closeCase(id, by);
    return { id, changed };
  },
});
