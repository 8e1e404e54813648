import Joi from 'joi';
import { replayAsOperator } from '../../webhooks/replay-deliveries.js';
import {
  defineConsoleOperation,
  idParams,
  reasonBody,
  shape,
  type Reason,
} from '../api/console-operation.js';

export const replayDelivery = defineConsoleOperation<Reason, { id: string }>({
  id: 'replayDelivery',
  method: 'post',
  path: '/deliveries/:id/replay',
  action: 'webhook.replay',
  summary: 'Send one delivery again, to the URL that its account has now',
  params: idParams,
  body: reasonBody,
  data: shape({ id: Joi.string(), state: Joi.string() }),
  async handle({ params: { id }, by }) {
    const replayed = await replayAsOperator(id, by);
    return { id: replayed._id, state: replayed.state };
  },
});
