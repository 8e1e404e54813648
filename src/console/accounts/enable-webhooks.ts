import Joi from 'joi';
import { enableAsOperator } from '../../webhooks/enable-as-operator.js';
import { shape } from '../api/console-operation.js';
import { defineAccountChange } from './account-operation.js';

export const enableWebhooks = defineAccountChange({
  id: 'enableWebhooks',
  verb: 'enable-webhooks',
  action: 'webhook.enable',
  summary: 'Send new events to the disabled URLs of an account again; what was held waits to be replayed',
  data: shape({ held: Joi.number() }),
  run: (account, { by }) => enableAsOperator(account, by),
});
