import type { Account } from '../accounts/account.model.js';
import { nowMs } from '../shared/clock.js';
import { ConflictError, RateLimitError } from '../shared/errors.js';
import { newId } from '../shared/ids.js';
import { pingDeliveries } from './account-events.js';
import { attemptDelivery } from './attempt-delivery.js';
import { deliveries, type DeliveryAttempt, type DeliveryState } from './delivery.model.js';
import { createRecorder } from './record-attempts.js';
import { createSender } from './send-request.js';
import { urlGuard } from './url-guard.js';
import { webhookLimits } from './webhook-limits.js';
import { signingKeys } from './webhook-secret.js';

const sender = createSender(urlGuard);
const record = createRecorder();
const underWay = new Set<string>();

/**
 * Sends a `ping` to the account's webhook URL now, whatever state that URL is in, and waits for what it says. It
 * is never sent again, and says nothing about the health of the URL.
 * @throws ConflictError if no webhook URL is set. @throws RateLimitError while another one is under way.
 */
export async function sendPing(
  account: Account,
): Promise<{ id: string; state: DeliveryState; attempt: DeliveryAttempt }> {
  const [delivery] = pingDeliveries(account);
  if (!delivery) {
    throw new ConflictError('Set a webhook_url first.');
  }
  if (underWay.has(account._id)) {
    throw new RateLimitError('A test of this URL is under way. Wait for its answer.', 1);
  }
  underWay.add(account._id);
  try {
    // Leased from the start: no worker takes it.
    const row = {
      ...delivery,
      leaseToken: newId(),
      nextAttemptAt: new Date(nowMs() + webhookLimits.leaseMs),
    };
    await deliveries.insertOne(row);
    const attempted = await attemptDelivery(sender, row, {
      keys: signingKeys(account),
      requireAck: account.requireAck,
    });
    await record(row, attempted);
    return { id: row._id, state: attempted.next.state, attempt: attempted.attempt };
  } finally {
    underWay.delete(account._id);
  }
}
