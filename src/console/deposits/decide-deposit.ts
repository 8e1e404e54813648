import Joi from 'joi';
import type { ChangedBy } from '../../audit/record-audit.js';
import { confirmDeposit as confirm } from '../../deposits/confirm-deposit.js';
import type { Deposit } from '../../deposits/deposit.model.js';
import { rejectDeposit as reject } from '../../deposits/reject-deposit.js';
import {
  defineConsoleOperation,
  idParams,
  reasonBody,
  shape,
  type AnyConsoleOperation,
  type Reason,
} from '../api/console-operation.js';

export const confirmDeposit = defineDecision({
  id: 'confirmDeposit',
  verb: 'confirm',
  summary: 'Credit a pending deposit whose money is on the bank account',
  run: confirm,
});

export const rejectDeposit = defineDecision({
  id: 'rejectDeposit',
  verb: 'reject',
  summary: 'Say that a pending deposit was never paid; it can never be credited after that',
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
    data: shape({ id: Joi.string(), status: Joi.string(), changed: Joi.boolean() }),
    async handle({ params: { id }, by }) {
      const { deposit, changed } = await decision.run(id, by);
      return { id, status: deposit.status, changed };
    },
  });
}
