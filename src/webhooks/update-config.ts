import { recordAudit, type ChangedBy } from '../audit/record-audit.js';
import { now } from '../shared/clock.js';
import { inTransaction, type Session } from '../database/mongo.js';
import { configUpdatedDeliveries } from './account-events.js';
import { announceDeliveries } from './announce-deliveries.js';
import { insertDeliveries } from './insert-deliveries.js';
import { adoptWebhookUrls } from './webhook-status.js';
import { AccountModel, type Account } from '../accounts/account.model.js';
import { forgetAccount } from '../accounts/find-account.js';
import { forgetAuthentication } from '../accounts/known-keys.js';

/** The settings that an account changes itself; what is left out stays. */
export type ConfigChange = Partial<Pick<Account, 'webhookUrl' | 'callbackUrl' | 'ipWhitelist' | 'rateLimit'>>;
type ConfigField = keyof ConfigChange;

const wireNames: Record<ConfigField, string> = {
  webhookUrl: 'webhook_url',
  callbackUrl: 'callback_url',
  ipWhitelist: 'ip_whitelist',
  rateLimit: 'rate_limit',
};

/**
 * Changes an account's settings (docs/interface.md#api-configuration). The change, its entry in the audit log and,
 * where `webhook_url` changed, the event that tells the old URL are one database transaction. What still waits for an
 * old URL then goes to the new one.
 * @returns The account as it is afterwards.
 */
export async function updateConfig(accountId: string, change: ConfigChange, by: ChangedBy): Promise<Account> {
  const { account, urlsGiven, deliveries } = await inTransaction(async (session) => {
    const before = await AccountModel.findById(accountId).session(session).lean<Account>();
    if (!before) {
      throw new Error(`Account ${accountId} does not exist`);
    }
    const changed = changedFields(before, change);
    const after: Account = { ...before, ...change };
    return {
      account: after,
      urlsGiven: 'webhookUrl' in change || 'callbackUrl' in change,
      deliveries: changed.length === 0 ? [] : await store(session, { before, after, changed, by }),
    };
  });
  forgetAuthentication();
  forgetAccount(accountId);
  await announceDeliveries(deliveries);
  if (urlsGiven) {
    await adoptWebhookUrls(account);
  }
  return account;
}

function changedFields(before: Account, change: ConfigChange): ConfigField[] {
  const given = Object.keys(change) as ConfigField[];
  return given.filter((field) => JSON.stringify(before[field]) !== JSON.stringify(change[field]));
}

async function store(
  session: Session,
  update: { before: Account; after: Account; changed: ConfigField[]; by: ChangedBy },
) {
  const { before, after, changed, by } = update;
  const values = (account: Account) =>
    Object.fromEntries(changed.map((field) => [wireNames[field], account[field]]));
  const set = Object.fromEntries(changed.map((field) => [field, after[field]]));
  await AccountModel.updateOne({ _id: before._id }, { $set: { ...set, updatedAt: now() } }, { session });
  await recordAudit(session, {
    ...by,
    action: 'config.update',
    subject: { kind: 'account', id: before._id },
    before: values(before),
    after: values(after),
  });
  const deliveries = changed.includes('webhookUrl')
    ? configUpdatedDeliveries(
        before,
        changed.map((field) => wireNames[field]),
      )
    : [];
  await insertDeliveries(session, deliveries);
  return deliveries;
}
