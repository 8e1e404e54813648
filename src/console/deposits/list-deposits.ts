import Joi from 'joi';
import { timestamp } from '../../api/fields.js';
import { usernamesOf } from '../../accounts/usernames-of.js';
import { deposits } from '../../deposits/deposit.model.js';
import { listDeposits as listWaiting } from '../../deposits/list-deposits.js';
import { lookUp } from '../../shared/look-up.js';
import { defineConsoleOperation, shape } from '../api/console-operation.js';
import { decidedPageFields, decidedPageOf, decidedQuery, decidedStatus } from '../api/decided-list.js';

export const listDeposits = defineConsoleOperation({
  id: 'listDeposits',
  method: 'get',
  path: '/deposits',
  action: 'deposit.look',
  summary: 'Deposits: those that wait, the longest waiting first; or those that fit a filter, newest first',
  query: decidedQuery,
  data: shape({
    deposits: Joi.array().items(
      shape({
        id: Joi.string(),
        account: Joi.string(),
        ref_id: Joi.string(),
        amount: Joi.number(),
        status: decidedStatus,
        balance_after: Joi.number().allow(null),
        created_at: timestamp,
        completed_at: timestamp.allow(null),
      }),
    ),
    ...decidedPageFields,
  }),
  async handle({ query }) {
    const { found, page } = await decidedPageOf(query, deposits, (limit) =>
      listWaiting({ status: 'pending', limit }),
    );
    const usernames = await usernamesOf(found.map(({ accountId }) => accountId));
    return {
      deposits: found.map((each) => ({
        id: each._id,
        account: lookUp(usernames, each.accountId) ?? '',
        ref_id: each.refId,
        amount: each.amount,
        status: each.status,
        balance_after: each.status === 'completed' ? each.balanceAfter : null,
        created_at: each.createdAt.toISOString(),
        completed_at: each.completedAt?.toISOString() ?? null,
      })),
      ...page,
    };
  },
});
