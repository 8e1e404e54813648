import type { Account } from '../account.model.js';
import { changeAccount, type AccountChanger } from './change-account.js';
import { refuseDuplicateUrl } from './change-endpoints.js';
import { redirectWaitingDeliveries } from '../../webhooks/endpoints/endpoint-status.js';

/** Settings that an account changes itself. Absent settings keep their value. */
export type ConfigChange = Partial<
  Pick<Account, 'webhookUrl' | 'callbackUrl' | 'ipWhitelist' | 'rateLimit' | 'language'>
>;
type ConfigField = keyof ConfigChange;

const wireNames: Record<ConfigField, string> = {
  webhookUrl: 'webhook_url',
  callbackUrl: 'callback_url',
  ipWhitelist: 'ip_whitelist',
  rateLimit: 'rate_limit',
  language: 'language',
};

/**
 * Guarded because an intruder could divert notifications or lock the owner out by changing them.
 */
const guardedFields: ConfigField[] = ['webhookUrl', 'callbackUrl', 'ipWhitelist'];

/**
 * Changes an account's settings (docs/reference/api/configuration.md) with `changeAccount`. Waiting
 * deliveries are sent to the new URL.
 * @returns The account after the change.
 * @throws SupersededKeyError (403/07) if the caller's key is not current.
 * @throws ConflictError (409/01) if another endpoint has the new `webhook_url`.
 */
export async function updateConfig(
  accountId: string,
  change: ConfigChange,
  by: AccountChanger,
): Promise<Account> {
  const account = await changeAccount(accountId, by, (before) => {
    const changed = findChangedFields(before, change);
    if (changed.includes('webhookUrl') && change.webhookUrl) {
      refuseDuplicateUrl(before, change.webhookUrl);
    }
    const values = (of: ConfigChange) =>
      Object.fromEntries(changed.map((field) => [wireNames[field], of[field]]));
    return changed.length === 0
      ? null
      : {
          set: {
            ...change,
            // If a URL is set again later, it receives all events.
            ...(change.webhookUrl === null && { webhookSettings: null }),
          },
          audit: { action: 'config.update', before: values(before), after: values(change) },
          guarded: changed.some((each) => guardedFields.includes(each))
            ? changed.map((field) => wireNames[field])
            : [],
        };
  });
  if ('webhookUrl' in change || 'callbackUrl' in change) {
    await redirectWaitingDeliveries(account);
  }
  return account;
}

function findChangedFields(before: Account, change: ConfigChange): ConfigField[] {
  const fields = Object.keys(change) as ConfigField[];
  return fields.filter((field) => JSON.stringify(before[field]) !== JSON.stringify(change[field]));
}
