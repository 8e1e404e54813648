import Joi from 'joi';
import type { Role } from '../../accounts/account.model.js';
import { replayDelivery } from '../../webhooks/replay-deliveries.js';
import { text } from '../fields.js';
import { defineOperation, type AnyOperation } from '../operation.js';
import { deliveryData, presentDelivery } from './delivery-data.js';
import { getChangedBy } from '../changed-by.js';
import { buildRoleFields } from '../call-of-role.js';

interface Params {
  id: string;
}

export function replayDeliveryFor(role: Role): AnyOperation {
  return defineOperation<unknown, Params>({
    ...buildRoleFields(role, {
      name: (who) => `replay${who}Delivery`,
      path: '/webhooks/deliveries/:id/replay',
    }),
    method: 'post',
    needs: 'trade',
    summary: 'Send one webhook or callback again',
    description: 'It goes to the URL that is set now, at once, with the whole schedule of retries before it.',
    params: Joi.object<Params>({ id: text(100).required() }),
    data: deliveryData,
    failures: [404, 409],
    async handle(call) {
      return {
        data: presentDelivery(await replayDelivery(call.account, call.params.id, getChangedBy(call))),
      };
    },
  });
}
