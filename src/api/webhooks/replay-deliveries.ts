import Joi from 'joi';
import type { Role } from '../../accounts/account.model.js';
import { startOf } from '../../shared/business-time.js';
import { replayDeliveries, type ReplayableState } from '../../webhooks/replay-deliveries.js';
import { isoDay } from '../fields.js';
import { defineOperation, type AnyOperation } from '../operation.js';
import { callOfRole } from '../call-of-role.js';

interface Body {
  since: string;
  status: ReplayableState;
}

export function replayDeliveriesFor(role: Role): AnyOperation {
  return defineOperation<Body>({
    ...callOfRole(role, { name: (who) => `replay${who}Deliveries`, path: '/webhooks/replay' }),
    method: 'post',
    summary: 'Send everything of one status again',
    description: 'After an outage: what was given up (dead), or held while the URL was disabled.',
    body: Joi.object<Body>({
      since: isoDay.required().description('Created at this time, on this day in business time, or later.'),
      status: Joi.string().valid('delivered', 'dead', 'held').required(),
    }),
    data: Joi.object({ replayed: Joi.number().required() }),
    async handle({ account, body }) {
      const since = startOf(body.since);
      return { data: { replayed: await replayDeliveries(account, { since, state: body.status }) } };
    },
  });
}
