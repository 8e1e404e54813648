import Joi from 'joi';
import { acceptDifferences } from '../../reconciliation/keep-reconciliation.js';
import { reason, shape, type Reason } from '../api/console-operation.js';
import { day } from '../api/list-query.js';
import { defineProviderOperation } from './provider-operation.js';

interface Body extends Reason {
  date: string;
}

export const acceptDifferencesCall = defineProviderOperation({
  id: 'acceptDifferences',
  method: 'post',
  verb: 'accept',
  action: 'provider.accept',
  summary: 'Say that the differences of a day are known and explained: no alarm stands for them any more',
  body: Joi.object<Body>({ date: day.required(), reason }),
  data: shape({ date: Joi.string(), different: Joi.number() }),
  async run(seller, { body: { date }, by }) {
    const accepted = await acceptDifferences(seller, date, by);
    return { date: accepted.date, different: accepted.different };
  },
});
