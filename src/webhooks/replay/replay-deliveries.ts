import type { Filter } from 'mongodb';
import { AccountModel } from '../../accounts/account.model.js';
import { defaultEndpointId, getEndpoints, requireEndpoint } from '../../accounts/webhook-endpoint.js';
import { recordAudit, type ChangedBy } from '../../audit/record-audit.js';
import { runInTransaction } from '../../database/mongo.js';
import { now } from '../../shared/clock.js';
import { ConflictError, NotFoundError } from '../../shared/errors.js';
import { say } from '../../shared/say.js';
import { isSuperseded } from '../deliver/claim-deliveries.js';
import { enqueueTurns } from '../deliver/delivery-jobs.js';
import { getImmediateDueTime, getReceiverId, getReceiverIds, type UrlOwner } from '../new-delivery.js';
import {
  deliveries,
  type Delivery,
  type DeliveryChannel,
  type DeliveryState,
} from '../deliver/delivery.model.js';
import { buildEndpointFilter } from '../deliver/stored-deliveries.js';

/** States that can be replayed. A dropped row is obsolete, and a due row is sent anyway. */
export type ReplayableState = Extract<DeliveryState, 'delivered' | 'dead' | 'held'>;

/**
 * Sends one delivery again now, with a new run of the schedule, to the account's current URL.
 * @throws NotFoundError if the account has no such delivery.
 * @throws ConflictError if a newer state of its purchase supersedes it, or its URL or endpoint was
 * removed.
 */
export async function replayDelivery(account: UrlOwner, id: string, by: ChangedBy): Promise<Delivery> {
  const row = await deliveries.findOne({ _id: id, accountId: account._id });
  if (!row) {
    throw new NotFoundError(say('noDelivery'));
  }
  const target = findTarget(account, row);
  if (target === null) {
    throw new ConflictError(
      say(row.endpointId === undefined ? 'deliveryUrlRemoved' : 'deliveryEndpointRemoved'),
      { reason: 'webhook_url_missing' },
    );
  }
  if (row.state === 'dropped' || (await isSuperseded(row))) {
    throw new ConflictError(say('deliverySuperseded'), {
      reason: 'delivery_superseded',
    });
  }
  const replayed = await runInTransaction(async (session) => {
    const after = await deliveries.findOneAndUpdate(
      { _id: id, accountId: account._id },
      { $set: { ...buildReplayFields(), ...target } },
      { returnDocument: 'after', session },
    );
    if (!after) {
      throw new NotFoundError(say('noDelivery'));
    }
    await recordAudit(session, {
      ...by,
      action: 'webhook.replay',
      subject: { kind: 'delivery', id },
      before: { state: row.state },
      after: { accountId: account._id, event: row.event, state: after.state },
    });
    return after;
  });
  await enqueueTurns([replayed.receiverId]);
  return replayed;
}

/** Replays a delivery of any account, for an operator. */
export async function replayAsOperator(id: string, by: ChangedBy): Promise<Delivery> {
  const row = await deliveries.findOne({ _id: id }, { projection: { accountId: 1 } });
  const account = row && (await AccountModel.findById(row.accountId).lean());
  if (!account) {
    throw new NotFoundError(say('noDelivery'));
  }
  return replayDelivery(account, id, by);
}

/**
 * Replays the deliveries in a state that were created since a time. They may be too many for one
 * database transaction, so one audit entry records the request and another one the count. Rows
 * whose URL was removed stay.
 * @returns The number of replayed deliveries.
 */
export async function replayDeliveries(
  account: UrlOwner,
  which: { since: Date; state: ReplayableState; endpointId?: string | undefined },
  by: ChangedBy,
): Promise<number> {
  const targets = findTargets(account, which.endpointId);
  const entry = { ...by, subject: { kind: 'account' as const, id: account._id } };
  await recordAudit(null, { ...entry, action: 'webhook.replay-all', after: which });
  const { modifiedCount: count } = await deliveries.bulkWrite(
    targets.map(({ rows, target }) => ({
      updateMany: {
        filter: {
          accountId: account._id,
          state: which.state,
          createdAt: { $gte: which.since },
          ...rows,
          event: { $nin: ['ping', 'config.updated'] },
        },
        update: { $set: { ...buildReplayFields(), ...target } },
      },
    })),
    { ordered: false },
  );
  // The sweep finds rows for URLs that were given with a purchase.
  await enqueueTurns(getReceiverIds(account));
  await recordAudit(null, { ...entry, action: 'webhook.replay-all.done', after: { ...which, count } });
  return count;
}

/** The current destination of rows. Empty for `own` URLs, which do not change. */
type Target = { url: string; receiverId: string } | Record<string, never>;

/** Returns the current destination of a row. Null if its URL or endpoint was removed. */
export function findTarget(account: UrlOwner, row: Pick<Delivery, 'channel' | 'endpointId'>): Target | null {
  if (row.channel === 'own') {
    return {};
  }
  const found = listUrlTargets(account).find(
    ({ channel, endpointId }) => channel === row.channel && endpointId === row.endpointId,
  );
  return found?.target ?? null;
}

/**
 * Returns the current destinations with the filters of their rows.
 * @param id Id of an endpoint. Undefined for all endpoints, the callback URL and `own` URLs.
 * @throws NotFoundError if there is no such endpoint.
 */
function findTargets(account: UrlOwner, id: string | undefined): { rows: RowFilter; target: Target }[] {
  const all = listUrlTargets(account);
  if (id === undefined) {
    return [...all, { rows: { channel: 'own' }, target: {} }];
  }
  const endpoint = requireEndpoint(account, id);
  const endpointId = endpoint.id === defaultEndpointId ? undefined : endpoint.id;
  return all.filter((each) => each.channel === 'webhook' && each.endpointId === endpointId);
}

/** Filter for the rows of one URL. */
type RowFilter = Filter<Delivery>;

interface UrlTarget {
  channel: Exclude<DeliveryChannel, 'own'>;
  /** As in the rows. Undefined for the default endpoint and the callback URL. */
  endpointId: string | undefined;
  rows: RowFilter;
  target: { url: string; receiverId: string };
}

/** Lists every endpoint and the callback URL of an account. */
export function listUrlTargets(account: UrlOwner): UrlTarget[] {
  const { _id: accountId, callbackUrl } = account;
  return [
    ...getEndpoints(account).map(({ id, url }) => ({
      channel: 'webhook' as const,
      endpointId: id === defaultEndpointId ? undefined : id,
      rows: buildEndpointFilter(id),
      target: { url, receiverId: getReceiverId(accountId, url, id) },
    })),
    ...(callbackUrl === null
      ? []
      : [
          {
            channel: 'callback' as const,
            endpointId: undefined,
            rows: { channel: 'callback' as const },
            target: { url: callbackUrl, receiverId: getReceiverId(accountId, callbackUrl) },
          },
        ]),
  ];
}

/** Returns the fields that start a new run of the schedule. Past attempts stay in the log. */
export function buildReplayFields() {
  const at = now();
  return {
    state: 'due' as const,
    nextAttemptAt: getImmediateDueTime(),
    leaseToken: null,
    scheduleStep: 0,
    scheduleStartedAt: at,
    settledAt: null,
    expireAt: null,
  };
}
