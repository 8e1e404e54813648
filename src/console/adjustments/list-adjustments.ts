import Joi from 'joi';
import { env } from '../../../config/env.js';
import { findUsernames } from '../../accounts/find-account.js';
import { adjustments, type Adjustment } from '../../adjustments/adjustment.model.js';
import { listPendingAdjustments } from '../../adjustments/list-adjustments.js';
import { timestamp, nameSchema } from '../../api/contract/fields.js';
import { lookUp } from '../../shared/collections.js';
import { defineConsoleOperation, requiredObject } from '../api/console-operation.js';
import {
  decidedPageFields,
  findDecidedPage,
  decidedQuery,
  decidedStatus,
  type DecidedQuery,
} from '../api/list-query.js';

export const listAdjustmentsCall = defineConsoleOperation<unknown, unknown, DecidedQuery>({
  id: 'listAdjustments',
  method: 'get',
  path: '/adjustments',
  action: 'adjustment.look',
  summary: 'Wallet adjustments: pending ones, oldest first, or those that match a filter, newest first',
  query: decidedQuery,
  data: requiredObject({
    adjustments: Joi.array().items(
      nameSchema(
        'Adjustment',
        requiredObject({
          id: Joi.string(),
          account: Joi.string(),
          reason: Joi.string(),
          amount: Joi.number().description('Rupiah. Positive: a credit; negative: a debit.'),
          status: decidedStatus,
          requested_by: Joi.string(),
          decided_by: Joi.string().allow(null),
          balance_after: Joi.number().allow(null),
          created_at: timestamp,
          decided_at: timestamp.allow(null),
          is_own: Joi.boolean().description('True: the caller requested it and cannot approve it.'),
        }),
      ),
    ),
    approval_from: Joi.number().description('From this amount in rupiah on, a second operator must approve.'),
    ...decidedPageFields,
  }),
  async handle({ query, by }) {
    const { found, page } = await findDecidedPage(query, adjustments, listPendingAdjustments);
    const usernames = await findUsernames(found.map(({ accountId }) => accountId));
    return {
      adjustments: found.map((each) => present(each, lookUp(usernames, each.accountId) ?? '', by.actor)),
      approval_from: env.ADJUSTMENT_APPROVAL_FROM,
      ...page,
    };
  },
});

function present(each: Adjustment, account: string, actor: string) {
  const { _id, amount, reason, status, requestedBy, decidedBy, balanceAfter, createdAt, decidedAt } = each;
  return {
    id: _id,
    account,
    amount,
    reason,
    status,
    requested_by: requestedBy,
    decided_by: decidedBy,
    balance_after: balanceAfter,
    created_at: createdAt.toISOString(),
    decided_at: decidedAt?.toISOString() ?? null,
    is_own: requestedBy === actor,
  };
}
