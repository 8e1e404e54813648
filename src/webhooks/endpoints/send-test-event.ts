import { env } from '../../../config/env.js';
import type { Account } from '../../accounts/account.model.js';
import { defaultEndpointId, getEndpoints, requireEndpoint } from '../../accounts/webhook-endpoint.js';
import { now, nowMs } from '../../shared/clock.js';
import { ConflictError, RateLimitError } from '../../shared/errors.js';
import { say } from '../../shared/say.js';
import { newId } from '../../shared/ids.js';
import { buildTestDelivery, type TestEvent } from '../account-events.js';
import { attemptDelivery, type AttemptResult } from '../deliver/attempt-delivery.js';
import { deliveries, type DeliveryAttempt, type DeliveryState } from '../deliver/delivery.model.js';
import { createRecorder } from '../deliver/record-attempts.js';
import { createSender, type Sender } from '../deliver/send-request.js';
import { urlGuard } from '../deliver/url-guard.js';
import { webhookLimits } from '../webhook-limits.js';

/** Created lazily, because processes without tests may not have the proxy setting. */
let sender: Sender | null = null;
const record = createRecorder();
const accountsTesting = new Set<string>();

/**
 * Sends a test event to an endpoint now, whatever its status, and waits for the response. The event
 * is never retried and does not affect the health of the URL.
 *
 * @param to.endpointId Id of the endpoint. Null for the default endpoint.
 * @param to.about The event. A `ping` if absent.
 * @throws ConflictError if no webhook URL is set.
 * @throws NotFoundError if there is no such endpoint.
 * @throws RateLimitError while another test of the account is in progress.
 */
export async function sendTestEvent(
  account: Account,
  { endpointId, about }: { endpointId: string | null; about?: TestEvent | undefined },
): Promise<{ id: string; state: DeliveryState; attempt: DeliveryAttempt }> {
  const endpoint =
    endpointId === null
      ? getEndpoints(account).find(({ id }) => id === defaultEndpointId)
      : requireEndpoint(account, endpointId);
  if (!endpoint) {
    throw new ConflictError(say('setWebhookUrl'), { reason: 'webhook_url_missing' });
  }
  if (accountsTesting.has(account._id)) {
    throw new RateLimitError(say('pingUnderWay'), 1);
  }
  accountsTesting.add(account._id);
  try {
    // Leased from the start, so that no worker takes it.
    const row = {
      ...buildTestDelivery(account, endpoint, about),
      leaseToken: newId(),
      nextAttemptAt: new Date(nowMs() + webhookLimits.leaseMs),
    };
    await deliveries.insertOne(row);
    sender ??= createSender(urlGuard, { proxyUrl: env.WEBHOOK_PROXY_URL });
    const attempted = withoutRetry(
      await attemptDelivery(sender, row, { account, requireAck: account.requireAck }),
    );
    await record(row, attempted);
    return { id: row._id, state: attempted.next.state, attempt: attempted.attempt };
  } finally {
    accountsTesting.delete(account._id);
  }
}

function withoutRetry({ next, ...attempted }: AttemptResult): AttemptResult {
  return {
    ...attempted,
    next:
      next.state === 'due' ? { state: 'dead', nextAttemptAt: null, settledAt: now(), expireAt: null } : next,
  };
}
