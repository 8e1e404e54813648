import Joi from 'joi';
import { text } from '../../api/contract/fields.js';
import type { ChangedBy } from '../../audit/record-audit.js';
import { claimSettlement as claim } from '../../settlements/claim-settlement.js';
import {
  approveSettlement as approve,
  completeSettlement as complete,
  failSettlement as fail,
} from '../../settlements/pay-out.js';
import type { Settlement } from '../../settlements/settlement.model.js';
import {
  defineConsoleOperation,
  idParams,
  reason,
  reasonBody,
  requiredObject,
  type AnyConsoleOperation,
  type Reason,
} from '../api/console-operation.js';

interface ClaimBody extends Reason {
  take_over: boolean;
}

interface CompleteBody extends Reason {
  bank_reference: string;
  shared_reference: boolean;
}

export const approveSettlement = defineStep({
  id: 'approveSettlement',
  verb: 'approve',
  summary: 'Approve a settlement that is waiting for approval',
  run: (id, { by }) => approve(id, by),
});

export const claimSettlement = defineStep<ClaimBody>({
  id: 'claimSettlement',
  verb: 'claim',
  summary: 'Claim a settlement to pay it at the bank, so that no other operator pays it',
  body: Joi.object<ClaimBody>({ reason, take_over: Joi.boolean().default(false) }),
  run: async (id, { by, body }) => (await claim(id, by, { takeOver: body.take_over })).settlement,
});

export const completeSettlement = defineStep<CompleteBody>({
  id: 'completeSettlement',
  verb: 'complete',
  summary: 'Mark a settlement as paid at the bank; only its claimer may do this',
  body: Joi.object<CompleteBody>({
    bank_reference: text(100)
      .pattern(/\S/)
      .required()
      .description("The bank's reference of the payment, as on its statement."),
    shared_reference: Joi.boolean()
      .default(false)
      .description('True to confirm that one transfer paid this settlement and others.'),
    reason,
  }),
  run: (id, { by, body }) =>
    complete(id, by, {
      bankReference: body.bank_reference.trim(),
      sharedReference: body.shared_reference,
    }),
});

export const failSettlement = defineStep({
  id: 'failSettlement',
  verb: 'fail',
  summary: 'Fail a settlement: the money returns to the balance of its seller, who gets the reason',
  run: (id, { by, body }) => fail(id, body.reason, by),
});

function defineStep<Body extends Reason = Reason>(step: {
  id: string;
  verb: string;
  summary: string;
  body?: Joi.ObjectSchema<Body>;
  run: (id: string, change: { by: ChangedBy; body: Body }) => Promise<Settlement>;
}): AnyConsoleOperation {
  return defineConsoleOperation<Body, { id: string }>({
    id: step.id,
    method: 'post',
    path: `/settlements/:id/${step.verb}`,
    action: 'settlement.decide',
    summary: step.summary,
    params: idParams,
    body: step.body ?? (reasonBody as unknown as Joi.ObjectSchema<Body>),
    data: requiredObject({ id: Joi.string(), status: Joi.string() }),
    async handle({ params: { id }, by, body }) {
      return { id, status: (await step.run(id, { by, body })).status };
    },
  });
}
