import Joi from 'joi';
import type { Role } from '../../accounts/account.model.js';
import { sendPing } from '../../webhooks/send-ping.js';
import { defineOperation, type AnyOperation } from '../operation.js';
import { attemptData, presentAttempt } from './delivery-data.js';
import { callOfRole } from '../call-of-role.js';

export function testWebhookFor(role: Role): AnyOperation {
  return defineOperation({
    ...callOfRole(role, { name: (who) => `test${who}Webhook`, path: '/webhooks/test' }),
    method: 'post',
    summary: 'Send a ping to the webhook URL now and return what it said',
    description: 'The request is signed like every other. It is not repeated.',
    data: Joi.object({
      id: Joi.string().required(),
      delivered: Joi.boolean().required(),
      attempt: attemptData.required(),
    }),
    failures: [409],
    async handle({ account }) {
      const { id, state, attempt } = await sendPing(account);
      return { data: { id, delivered: state === 'delivered', attempt: presentAttempt(attempt) } };
    },
  });
}
