/** What an account sees and changes of the health of its URLs. */
import { AccountModel, type Account } from '../../accounts/account.model.js';
import {
  defaultEndpointId,
  getEndpoints,
  type WebhookEndpoint,
  requireEndpoint,
} from '../../accounts/webhook-endpoint.js';
import { writeAndInvalidate } from '../../redis/publish-changes.js';
import { now } from '../../shared/clock.js';
import { giveTurns } from '../deliver/delivery-jobs.js';
import { deliveries } from '../deliver/delivery.model.js';
import { buildEndpointFilter } from '../deliver/stored-deliveries.js';
import { getConfigReceiverIds, getReceiverId, getReceiverIds, type UrlOwner } from '../new-delivery.js';
import { healthyState } from '../receivers/receiver-health.js';
import { receivers, type DisabledBecause, type Receiver } from '../receivers/receiver.model.js';
import { buildReplayFields, listUrlTargets } from '../replay/replay-deliveries.js';
import { webhookLimits } from '../webhook-limits.js';
import { recordAudit, type ChangedBy } from '../../audit/record-audit.js';

/** `failing`: no success for a day. `disabled`: nothing is sent until the account enables it or sets another URL. */
export type WebhookStatus = 'enabled' | 'failing' | 'disabled';

export interface EndpointHealth {
  status: WebhookStatus;
  /** Since when it fails or is disabled; null where it does neither. */
  since: Date | null;
  /** Why it is disabled: no success for days, or it answered 410. */
  reason: DisabledBecause | null;
}

/** The worse of `webhook_url` and `callback_url`; `webhook_status` of api/config. */
export async function getWebhookStatus(account: UrlOwner): Promise<WebhookStatus> {
  const found = await receivers.find({ _id: { $in: getConfigReceiverIds(account) } }).toArray();
  const statuses = found.map((receiver) => getHealth(receiver).status);
  return (['disabled', 'failing'] as const).find((status) => statuses.includes(status)) ?? 'enabled';
}

export interface ListedEndpoint {
  endpoint: WebhookEndpoint;
  health: EndpointHealth;
}

/** Every endpoint of an account with its health, that of `webhook_url` first; at most `limits.webhookEndpointsMax`. */
export async function listEndpoints(account: UrlOwner): Promise<ListedEndpoint[]> {
  const endpoints = getEndpoints(account);
  const receiverIds = endpoints.map(({ id, url }) => getReceiverId(account._id, url, id));
  const found = await receivers.find({ _id: { $in: receiverIds } }).toArray();
  return endpoints.map((endpoint, index) => ({
    endpoint,
    health: getHealth(found.find(({ _id }) => _id === receiverIds[index])),
  }));
}

/** @throws NotFoundError */
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
 * Forgets every failure of the account's receivers, or of one endpoint, so that new events go out again.
 * @returns How many deliveries were held meanwhile: the account can have them replayed.
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
 * After the account's URLs changed: what still waits for an old URL goes to the new one at once, is held where
 * there is none any more, and dropped where its endpoint was removed: that never comes back. Safe to run again.
 * @param account As it is after the change.
 */
export async function redirectWaitingDeliveries(account: UrlOwner): Promise<void> {
  const waits = {
    accountId: account._id,
    state: 'due' as const,
    // The old URL itself is to hear that it was replaced.
    event: { $ne: 'config.updated' as const },
    leaseToken: null,
  };
  const targets = listUrlTargets(account);
  const at = now();
  const ended = { nextAttemptAt: null, settledAt: at };
  const gone = (['webhook', 'callback'] as const).filter(
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
      ...gone.map((channel) => ({
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
  await giveTurns(getReceiverIds(account));
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
 * `enableWebhooks` for the operator: new events go out again to every URL of the account. What was held stays held until
 * it is replayed. The audit log says first what is done: forgetting failures is several writes, and safe to do again.
 * @returns How many deliveries were held meanwhile.
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
