import Joi from 'joi';
import { limits } from '../../../config/limits.js';
import {
  setOperatorSettings,
  type OperatorSettings,
  setAccountStatus,
} from '../../accounts/changes/set-account.js';
import { languages, type Language } from '../../shared/messages.js';
import { reason, type Reason, priceGroup, requiredObject } from '../api/console-operation.js';
import { changedData, defineAccountChange } from './define-account-change.js';
import { updateConfig } from '../../accounts/changes/update-config.js';
import { enableAsOperator } from '../../webhooks/endpoints/endpoint-status.js';
import { revokeAccountLinks } from '../../reports/download-links.js';

interface SettingsBody extends Reason {
  require_strong_sign?: boolean;
  require_ack?: boolean;
  /** Null for the default rate. */
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
  summary: 'Change the account settings that only operators may change; omitted fields keep their values',
  body: Joi.object<SettingsBody>({
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
    const entries = Object.entries(settings).filter(([, value]) => value !== undefined);
    const { changed } = await setOperatorSettings(account._id, Object.fromEntries(entries), by);
    return { changed: changed.length > 0 };
  },
});

interface PriceGroupBody extends Reason {
  group: string | null;
}

export const setPriceGroup = defineAccountChange({
  id: 'setPriceGroup',
  verb: 'group',
  // A price group changes what the account pays, so this needs the same right as a markup.
  action: 'markup.set',
  summary: 'Put an account into a price group, or remove it from its group',
  body: Joi.object<PriceGroupBody>({
    group: priceGroup.allow(null).required().description('Null: none.'),
    reason,
  }),
  async run({ _id }, { body: { group }, by }) {
    const { changed } = await setOperatorSettings(_id, { priceGroup: group }, by);
    return { changed: changed.length > 0 };
  },
});

export const suspendAccount = defineAccountChange({
  id: 'suspendAccount',
  verb: 'suspend',
  action: 'account.suspend',
  summary: 'Suspend an account: every call is refused from the next one on',
  run: async (account, { by }) => ({ changed: await setAccountStatus(account, 'suspended', by) }),
});

export const resumeAccount = defineAccountChange({
  id: 'resumeAccount',
  verb: 'resume',
  action: 'account.suspend',
  summary: 'Resume a suspended account',
  run: async (account, { by }) => ({ changed: await setAccountStatus(account, 'active', by) }),
});

export const clearAllowlist = defineAccountChange({
  id: 'clearAllowlist',
  verb: 'clear-allowlist',
  action: 'account.clear-allowlist',
  summary: 'Clear the IP allowlist of an account',
  async run({ _id, ipWhitelist }, { by }) {
    await updateConfig(_id, { ipWhitelist: [] }, { ...by, keyId: null });
    return { changed: ipWhitelist.length > 0 };
  },
});

export const enableWebhooks = defineAccountChange({
  id: 'enableWebhooks',
  verb: 'enable-webhooks',
  action: 'webhook.enable',
  summary: 'Enable the disabled URLs of an account; deliveries that were held must be replayed',
  data: requiredObject({ held: Joi.number() }),
  run: (account, { by }) => enableAsOperator(account, by),
});

export const revokeLinks = defineAccountChange({
  id: 'revokeLinks',
  verb: 'revoke-links',
  action: 'account.revoke-links',
  summary: 'Revoke every download link of the reports of an account',
  async run({ _id }, { by }) {
    await revokeAccountLinks(_id, by);
    return { changed: true };
  },
});
