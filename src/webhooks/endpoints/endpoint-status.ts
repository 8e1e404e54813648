import { AccountModel, type Account } from '../../accounts/account.model.js';
import {
  defaultEndpointId,
  getEndpoints,
  type WebhookEndpoint,
  requireEndpoint,
} from '../../accounts/webhook-endpoint.js';
import { writeAndInvalidate } from '../../redis/publish-changes.js';
import { now } from '../../shared/clock.js';
import { enqueueTurns } from '../deliver/delivery-jobs.js';
import { deliveries } from '../deliver/delivery.model.js';
import { buildEndpointFilter } from '../deliver/stored-deliveries.js';
import { getConfigReceiverIds, getReceiverId, getReceiverIds, type UrlOwner } from '../new-delivery.js';
import { healthyState } from '../receivers/receiver-health.js';
import { receivers, type DisabledBecause, type Receiver } from '../receivers/receiver.model.js';
import { buildReplayFields, listUrlTargets } from '../replay/replay-deliveries.js';
import { webhookLimits } from '../webhook-limits.js';
import { recordAudit, type ChangedBy } from '../../audit/record-audit.js';

/**
 * `failing`: no success for a day. `disabled`: nothing is sent until the account enables the URL or
 * sets another URL.
 */
export type WebhookStatus = 'enabled' | 'failing' | 'disabled';

export interface EndpointHealth {
  status: WebhookStatus;
  /** Start of the current status. Null if the URL is enabled. */
  since: Date | null;
  /** Why it is disabled: no success for days, or a 410 response. */
  reason: DisabledBecause | null;
}

/**
 * Returns the worse status of `webhook_url` and `callback_url`. Shown as `webhook_status` in
 * api/config.
 */
export async function getWebhookStatus(account: UrlOwner): Promise<WebhookStatus> {
  const found = await receivers.find({ _id: { $in: getConfigReceiverIds(account) } }).toArray();
  const statuses = found.map((receiver) => getHealth(receiver).status);
  return (['disabled', 'failing'] as const).find((status) => statuses.includes(status)) ?? 'enabled';
}

export interface ListedEndpoint {
  endpoint: WebhookEndpoint;
  health: EndpointHealth;
}

/**
 * Lists every endpoint of an account with its health, the default endpoint first. There are at most
 * `limits.webhookEndpointsMax`.
 */
export async function listEndpoints(account: UrlOwner): Promise<ListedEndpoint[]> {
  const endpoints = getEndpoints(account);
  const receiverIds = endpoints.map(({ id, url }) => getReceiverId(account._id, url, id));
  const found = await receivers.find({ _id: { $in: receiverIds } }).toArray();
  return endpoints.map((endpoint, index) => ({
    endpoint,
    health: getHealth(found.find(({ _id }) => _id === receiverIds[index])),
  }));
}

/** @throws NotFoundError if the account has no such endpoint. */
export async function findEndpoint(account: UrlOwner, id: string): Promise<ListedEndpoint> {
  const listed = await listEndpoints(account);
  return (
    listed.find(({ endpoint }) => endpoint.id === id) ?? {
      endpoint: requireEndpoint(account, id),
      health: healthyEndpoint,
    }
  );
}

const healthyEndpoint: EndpointHealth = { status: 'enabled', since: null, reason: null };

function getHealth(receiver: Receiver | undefined): EndpointHealth {
  if (receiver?.disabledAt) {
    return { status: 'disabled', since: receiver.disabledAt, reason: receiver.disabledBecause };
  }
  return receiver?.warnedAt
    ? { status: 'failing', since: receiver.failingSince, reason: null }
    : healthyEndpoint;
}

/**
 * Resets the failures of the account's receivers, or of one endpoint, so that new events are sent.
 * @returns The number of held deliveries, which the account can replay.
 * @throws NotFoundError if there is no such endpoint.
 */
export async function enableWebhooks(account: UrlOwner, endpointId?: string): Promise<{ held: number }> {
  const endpoint = endpointId === undefined ? null : requireEndpoint(account, endpointId);
  await receivers.updateMany(
    {
      accountId: account._id,
      ...(endpoint && { _id: getReceiverId(account._id, endpoint.url, endpoint.id) }),
    },
    { $set: healthyState },
  );
  await updateStatus(account);
  return {
    held: await deliveries.countDocuments({
      accountId: account._id,
      state: 'held',
      ...(endpoint && buildEndpointFilter(endpoint.id)),
    }),
  };
}

/**
 * Redirects waiting deliveries after a change of URLs: to the new URL at once, `held` if there is
 * none, `dropped` if the endpoint was removed. Safe to run again.
 * @param account The account after the change.
 */
export async function redirectWaitingDeliveries(account: UrlOwner): Promise<void> {
  const waits = {
    accountId: account._id,
    state: 'due' as const,
    // The old URL must get the notice of its replacement.
    event: { $ne: 'config.updated' as const },
    leaseToken: null,
  };
  const targets = listUrlTargets(account);
  const at = now();
  const ended = { nextAttemptAt: null, settledAt: at };
  const removedChannels = (['webhook', 'callback'] as const).filter(
    (channel) => !targets.some((each) => each.channel === channel && each.endpointId === undefined),
  );
  const others = getEndpoints(account).flatMap(({ id }) => (id === defaultEndpointId ? [] : [id]));
  await deliveries.bulkWrite(
    [
      ...targets.map(({ rows, target }) => ({
        updateMany: {
          filter: { ...waits, ...rows, url: { $ne: target.url } },
          update: { $set: { ...buildReplayFields(), ...target } },
        },
      })),
      ...removedChannels.map((channel) => ({
        updateMany: {
          filter: { ...waits, channel, endpointId: { $exists: false } },
          update: { $set: { state: 'held' as const, ...ended } },
        },
      })),
      {
        updateMany: {
          filter: { ...waits, channel: 'webhook' as const, endpointId: { $exists: true, $nin: others } },
          update: {
            $set: {
              state: 'dropped' as const,
              ...ended,
              expireAt: new Date(at.getTime() + webhookLimits.deliveredKeptMs),
            },
          },
        },
      },
    ],
    { ordered: false },
  );
  await updateStatus(account);
  await enqueueTurns(getReceiverIds(account));
}

async function updateStatus(account: UrlOwner): Promise<void> {
  const { _id } = account;
  const webhookStatus: Account['webhookStatus'] =
    (await getWebhookStatus(account)) === 'disabled' ? 'disabled' : 'enabled';
  await writeAndInvalidate([AccountModel], [_id], (accounts) =>
    accounts.updateOne({ _id }, { $set: { webhookStatus } }),
  );
}

/**
 * Enables all URLs of an account for an operator. Held deliveries stay held until a replay. The
 * audit entry is written first, because the reset takes several writes. The reset is safe to
 * repeat.
 * @returns The number of held deliveries.
 */
export async function enableAsOperator(account: Account, by: ChangedBy): Promise<{ held: number }> {
  const before = (await listEndpoints(account)).map(
    ({ endpoint, health }) => `${endpoint.id} ${health.status}`,
  );
  await recordAudit(null, {
    ...by,
    action: 'webhook.enable',
    subject: { kind: 'account', id: account._id },
    before: { endpoints: before },
  });
  return enableWebhooks(account);
}
