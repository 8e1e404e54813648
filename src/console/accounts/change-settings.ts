import Joi from 'joi';
import { limits } from '../../../config/limits.js';
import { setAccount, type OperatorSettings } from '../../accounts/set-account.js';
import { languages, type Language } from '../../shared/messages.js';
import { reason, type Reason } from '../api/console-operation.js';
import { changedData, defineAccountChange } from './account-operation.js';

interface Body extends Reason {
  require_strong_sign?: boolean;
  require_ack?: boolean;
  /** Null: the standard. */
  commission_rate?: number | null;
  rate_limit?: number;
  rate_limit_max?: number | null;
  product_limit?: number | null;
  language?: Language;
}

const count = (max: number) => Joi.number().integer().min(1).max(max);

export const changeSettings = defineAccountChange({
  id: 'changeSettings',
  verb: 'settings',
  action: 'account.set',
  summary: 'Set what the operator alone decides of an account; what is left out stays',
  body: Joi.object<Body>({
    require_strong_sign: Joi.boolean(),
    require_ack: Joi.boolean(),
    commission_rate: Joi.number().min(0).max(1).precision(6).allow(null),
    rate_limit: count(limits.rateLimitMax),
    rate_limit_max: count(limits.rateLimitMax).allow(null),
    product_limit: count(limits.productsPerSellerMax).allow(null),
    language: Joi.string().valid(...languages),
    reason,
  }),
  data: changedData,
  async run(account, { body, by }) {
    const settings: { [name in keyof OperatorSettings]: OperatorSettings[name] | undefined } = {
      requireStrongSign: body.require_strong_sign,
      requireAck: body.require_ack,
      commissionRate: body.commission_rate,
      rateLimit: body.rate_limit,
      rateLimitMax: body.rate_limit_max,
      productLimit: body.product_limit,
      language: body.language,
    };
    const given = Object.entries(settings).filter(([, value]) => value !== undefined);
    const { changed } = await setAccount(account._id, Object.fromEntries(given), by);
    return { changed: changed.length > 0 };
  },
});
