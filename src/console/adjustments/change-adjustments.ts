import Joi from 'joi';
import { limits } from '../../../config/limits.js';
import { requireAccount } from '../../accounts/find-account.js';
import type { Adjustment } from '../../adjustments/adjustment.model.js';
import { approveAdjustment, rejectAdjustment } from '../../adjustments/decide-adjustment.js';
import { requestAdjustment } from '../../adjustments/request-adjustment.js';
import { text } from '../../api/contract/fields.js';
import type { ChangedBy } from '../../audit/record-audit.js';
import {
  defineConsoleOperation,
  idParams,
  reason,
  reasonBody,
  requiredObject,
  type AnyConsoleOperation,
  type Reason,
} from '../api/console-operation.js';

interface Body extends Reason {
  account: string;
  amount: number;
}

const fields = {
  id: Joi.string(),
  status: Joi.string().valid('pending', 'completed', 'rejected'),
  balance_after: Joi.number().allow(null).description('Null if no money was moved.'),
};

/** Requests an adjustment. Not idempotent: each call creates another adjustment. */
export const requestAdjustmentCall = defineConsoleOperation<Body>({
  id: 'requestAdjustment',
  method: 'post',
  path: '/adjustments',
  action: 'adjustment.make',
  summary: 'Credit or debit a wallet; a large adjustment waits for a second operator',
  body: Joi.object<Body>({
    account: text(64).required(),
    amount: Joi.number()
      .integer()
      .min(-limits.depositMax)
      .max(limits.depositMax)
      .invalid(0)
      .messages({ 'any.invalid': 'amount must not be 0' })
      .required()
      .description('Rupiah. Positive: a credit; negative: a debit. Not 0.'),
    reason,
  }),
  data: requiredObject(fields),
  async handle({ body: { account, amount }, by }) {
    return present(await requestAdjustment({ account: await requireAccount(account.trim()), amount }, by));
  },
});

export const approveAdjustmentCall = defineDecision({
  id: 'approveAdjustment',
  verb: 'approve',
  summary: 'Approve an adjustment that another operator has requested',
  run: approveAdjustment,
});

export const rejectAdjustmentCall = defineDecision({
  id: 'rejectAdjustment',
  verb: 'reject',
  summary: 'Reject a pending adjustment',
  run: rejectAdjustment,
});

function defineDecision(decision: {
  id: string;
  verb: string;
  summary: string;
  run: (id: string, by: ChangedBy) => Promise<{ adjustment: Adjustment; changed: boolean }>;
}): AnyConsoleOperation {
  return defineConsoleOperation<Reason, { id: string }>({
    id: decision.id,
    method: 'post',
    path: `/adjustments/:id/${decision.verb}`,
    action: 'adjustment.make',
    summary: decision.summary,
    params: idParams,
    body: reasonBody,
    data: requiredObject({ ...fields, changed: Joi.boolean().description('False: nothing has changed.') }),
    async handle({ params: { id }, by }) {
      const { adjustment, changed } = await decision.run(id, by);
      return { ...present(adjustment), changed };
    },
  });
}

function present({ _id, status, balanceAfter }: Adjustment) {
  return { id: _id, status, balance_after: balanceAfter };
}
