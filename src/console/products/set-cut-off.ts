import Joi from 'joi';
import { setCutOff } from '../../products/set-cut-off.js';
import { defineConsoleOperation, reason, shape, type Reason } from '../api/console-operation.js';
import { codeParams } from './get-product.js';

interface CutOffBody extends Reason {
  cut_off: { start: string; end: string } | null;
}

const clock = Joi.string()
  .pattern(/^([01]\d|2[0-3]):[0-5]\d$/)
  .max(5)
  .required();

export const setCutOffCall = defineConsoleOperation<CutOffBody, { code: string }>({
  id: 'setCutOff',
  method: 'post',
  path: '/products/:code/cut-off',
  action: 'product.set',
  summary: 'Set the daily window in which nobody sells a product, in business time; null: none',
  params: codeParams,
  body: Joi.object<CutOffBody>({
    cut_off: Joi.object({ start: clock, end: clock.invalid(Joi.ref('start')) })
      .allow(null)
      .required(),
    reason,
  }),
  data: shape({}),
  async handle({ params: { code }, body: { cut_off: cutOff }, by }) {
    await setCutOff({ code, cutOff }, by);
    return {};
  },
});
