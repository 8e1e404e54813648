import Joi from 'joi';
import type { Role } from '../../accounts/account.model.js';
import { getStartOfDay } from '../../shared/business-time.js';
import { replayDeliveries, type ReplayableState } from '../../webhooks/replay-deliveries.js';
import { caseless, isoDay } from '../fields.js';
import { defineOperation, type AnyOperation } from '../operation.js';
import { getChangedBy } from '../changed-by.js';
import { endpointId } from './endpoint-data.js';
import { buildRoleFields } from '../call-of-role.js';

interface Body {
  since: string;
  status: ReplayableState;
  endpoint_id?: string;
}

export function replayDeliveriesFor(role: Role): AnyOperation {
  return defineOperation<Body>({
    ...buildRoleFields(role, { name: (who) => `replay${who}Deliveries`, path: '/webhooks/replay' }),
    method: 'post',
    needs: 'trade',
    summary: 'Send everything of one status again',
    description: 'After an outage: what was given up (dead), or held while the URL was disabled.',
    body: Joi.object<Body>({
      since: isoDay.required().description('Created at this time, on this day in business time, or later.'),
      status: caseless(['delivered', 'dead', 'held']).required(),
      endpoint_id: endpointId,
    }),
    data: Joi.object({ replayed: Joi.number().required() }),
    failures: [404],
    async handle(call) {
      const { account, body } = call;
      const which = {
        since: getStartOfDay(body.since),
        state: body.status.toLowerCase() as ReplayableState,
        endpointId: body.endpoint_id,
      };
      return { data: { replayed: await replayDeliveries(account, which, getChangedBy(call)) } };
    },
  });
}
