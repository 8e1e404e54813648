import Joi from 'joi';
import { timestamp, nameSchema } from '../../api/contract/fields.js';
import { findUsernames } from '../../accounts/find-account.js';
import { deposits, type Deposit } from '../../deposits/deposit.model.js';
import { listDeposits as listWaiting } from '../../deposits/list-deposits.js';
import { lookUp } from '../../shared/collections.js';
import {
  defineConsoleOperation,
  requiredObject,
  idParams,
  reasonBody,
  type AnyConsoleOperation,
  type Reason,
} from '../api/console-operation.js';
import { decidedPageFields, findDecidedPage, decidedQuery, decidedStatus } from '../api/list-query.js';
import type { ChangedBy } from '../../audit/record-audit.js';
import { confirmDeposit as confirm, rejectDeposit as reject } from '../../deposits/decide-deposit.js';

export const listDeposits = defineConsoleOperation({
  id: 'listDeposits',
  method: 'get',
  path: '/deposits',
  action: 'deposit.look',
  summary: 'Deposits: pending ones, oldest first, or those that match a filter, newest first',
  query: decidedQuery,
  data: requiredObject({
    deposits: Joi.array().items(
      nameSchema(
        'Deposit',
        requiredObject({
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
    ),
    ...decidedPageFields,
  }),
  async handle({ query }) {
    const { found, page } = await findDecidedPage(query, deposits, (limit) =>
      listWaiting({ status: 'pending', limit }),
    );
    const usernames = await findUsernames(found.map(({ accountId }) => accountId));
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

export const confirmDeposit = defineDecision({
  id: 'confirmDeposit',
  verb: 'confirm',
  summary: 'Confirm a pending deposit whose money is on the bank account, and credit it',
  run: confirm,
});

export const rejectDeposit = defineDecision({
  id: 'rejectDeposit',
  verb: 'reject',
  summary: 'Reject a pending deposit that was never paid; it can never be credited afterwards',
  run: reject,
});

function defineDecision(decision: {
  id: string;
  verb: string;
  summary: string;
  run: (id: string, by: ChangedBy) => Promise<{ deposit: Deposit; changed: boolean }>;
}): AnyConsoleOperation {
  return defineConsoleOperation<Reason, { id: string }>({
    id: decision.id,
    method: 'post',
    path: `/deposits/:id/${decision.verb}`,
    action: 'deposit.decide',
    summary: decision.summary,
    params: idParams,
    body: reasonBody,
    data: requiredObject({ id: Joi.string(), status: Joi.string(), changed: Joi.boolean() }),
    async handle({ params: { id }, by }) {
      const { deposit, changed } = await decision.run(id, by);
      return { id, status: deposit.status, changed };
    },
  });
}
