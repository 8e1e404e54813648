/** What an account sees and changes of the health of its URLs. */
import { AccountModel } from '../accounts/account.model.js';
import { forgetAccount } from '../accounts/find-account.js';
import { deliveries, type DeliveryChannel } from './delivery.model.js';
import { receiverIdsOf, type UrlOwner } from './new-delivery.js';
import { healthy } from './receiver-health.js';
import { receivers } from './receiver.model.js';
import { again, targetOf } from './replay-deliveries.js';
import { giveTurns } from './announce-deliveries.js';
import { now } from '../shared/clock.js';

/** `failing`: no success for a day. `disabled`: nothing is sent until the account enables it or sets another URL. */
export type WebhookStatus = 'enabled' | 'failing' | 'disabled';

/** The worse of the account's two URLs; `webhook_status` of api/config. */
export async function webhookStatusOf(account: UrlOwner): Promise<WebhookStatus> {
  const found = await receivers.find({ _id: { $in: receiverIdsOf(account) } }).toArray();
  if (found.some((receiver) => receiver.disabledAt !== null)) {
    return 'disabled';
  }
  return found.some((receiver) => receiver.warnedAt !== null) ? 'failing' : 'enabled';
}

/**
 * Forgets every failure of the account's receivers, so that new events go out again.
 * @returns How many deliveries were held meanwhile: the account can have them replayed.
 */
export async function enableWebhooks(account: UrlOwner): Promise<{ held: number }> {
  await receivers.updateMany({ accountId: account._id }, { $set: healthy });
  await AccountModel.updateOne({ _id: account._id }, { $set: { webhookStatus: 'enabled' } });
  forgetAccount(account._id);
  return { held: await deliveries.countDocuments({ accountId: account._id, state: 'held' }) };
}

/**
 * After the account's URLs changed: what still waits for an old URL goes to the new one at once, and is held where
 * there is none any more. Safe to run again.
 * @param account As it is after the change.
 */
export async function adoptWebhookUrls(account: UrlOwner): Promise<void> {
  for (const channel of ['webhook', 'callback'] as const) {
    await redirect(account, channel);
  }
  const status = await webhookStatusOf(account);
  const webhookStatus = status === 'disabled' ? 'disabled' : 'enabled';
  await AccountModel.updateOne({ _id: account._id }, { $set: { webhookStatus } });
  forgetAccount(account._id);
  await giveTurns(receiverIdsOf(account));
}

async function redirect(account: UrlOwner, channel: Exclude<DeliveryChannel, 'own'>): Promise<void> {
  const url = channel === 'webhook' ? account.webhookUrl : account.callbackUrl;
  const target = targetOf(account, channel);
  await deliveries.updateMany(
    {
      accountId: account._id,
      state: 'due',
      channel,
      // The old URL itself is to hear that it was replaced.
      event: { $ne: 'config.updated' },
      leaseToken: null,
      ...(url !== null && { url: { $ne: url } }),
    },
    {
      $set:
        target === null
          ? { state: 'held', nextAttemptAt: null, settledAt: now() }
          : { ...again(), ...target },
    },
  );
}
