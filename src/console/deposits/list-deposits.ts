import Joi from 'joi';
import { timestamp } from '../../api/fields.js';
import { usernamesOf } from '../../accounts/usernames-of.js';
import { pageOfDocuments, type PageOfDocuments } from '../../database/page-of-documents.js';
import { deposits, type Deposit } from '../../deposits/deposit.model.js';
import { listDeposits as listWaiting } from '../../deposits/list-deposits.js';
import { lookUp } from '../../shared/look-up.js';
import { defineConsoleOperation, shape } from '../api/console-operation.js';
import { listQuery, pageFields, pageFilterOf, type ListQuery } from '../api/list-query.js';

const statuses = ['pending', 'completed', 'rejected'] as const satisfies readonly Deposit['status'][];

interface Query extends ListQuery {
  status: Deposit['status'] | 'waiting' | 'all';
}

export const listDeposits = defineConsoleOperation<unknown, unknown, Query>({
  id: 'listDeposits',
  method: 'get',
  path: '/deposits',
  action: 'deposit.look',
  summary: 'Deposits: those that wait, the longest waiting first; or those that fit a filter, newest first',
  query: Joi.object<Query>({
    status: Joi.string()
      .valid('waiting', ...statuses, 'all')
      .default('waiting'),
    ...listQuery,
  }),
  data: shape({
    deposits: Joi.array().items(
      shape({
        ...{ id: Joi.string(), account: Joi.string(), ref_id: Joi.string(), amount: Joi.number() },
        status: Joi.string().valid(...statuses),
        balance_after: Joi.number().allow(null),
        created_at: timestamp,
        completed_at: timestamp.allow(null),
      }),
    ),
    ...pageFields,
    has_more: Joi.boolean().description('Of those that wait: more come up as these are decided.'),
  }),
  async handle({ query }) {
    const { found, next, lookedBackTo, hasMore } = await pageOf(query);
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
      next,
      looked_back_to: lookedBackTo?.toISOString() ?? null,
      has_more: hasMore,
    };
  },
});

async function pageOf(query: Query): Promise<PageOfDocuments<Deposit> & { hasMore: boolean }> {
  const { status, after, limit } = query;
  const filter = await pageFilterOf(query);
  const hasOtherFilter = Object.values(filter).some((each) => each !== undefined);
  if (status === 'waiting' && !hasOtherFilter) {
    const found = await listWaiting({ status: 'pending', limit: limit + 1 });
    return {
      found: found.slice(0, limit),
      next: null,
      lookedBackTo: null,
      hasMore: found.length > limit,
    };
  }
  const wanted = status === 'waiting' ? 'pending' : status;
  const fits = wanted === 'all' ? undefined : (each: Deposit) => each.status === wanted;
  return { ...(await pageOfDocuments(deposits, { ...filter, fits }, { after, limit })), hasMore: false };
}
