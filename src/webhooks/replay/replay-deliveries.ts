import type { Filter } from 'mongodb';
import { AccountModel } from '../../accounts/account.model.js';
import { defaultEndpointId, getEndpoints, requireEndpoint } from '../../accounts/webhook-endpoint.js';
import { recordAudit, type ChangedBy } from '../../audit/record-audit.js';
import { inTransaction } from '../../database/mongo.js';
import { now } from '../../shared/clock.js';
import { ConflictError, NotFoundError } from '../../shared/errors.js';
import { say } from '../../shared/say.js';
import { isSuperseded } from '../deliver/claim-deliveries.js';
import { giveTurns } from '../deliver/delivery-jobs.js';
import { getImmediateDueTime, getReceiverId, getReceiverIds, type UrlOwner } from '../new-delivery.js';
import {
  deliveries,
  type Delivery,
  type DeliveryChannel,
  type DeliveryState,
} from '../deliver/delivery.model.js';
import { buildEndpointFilter } from '../deliver/stored-deliveries.js';

/** What can be asked for again. A dropped row is worthless, a due one comes by itself. */
export type ReplayableState = Extract<DeliveryState, 'delivered' | 'dead' | 'held'>;

/**
 * Sends one delivery again, now and with the whole schedule before it, to the account's present URL.
 * @throws NotFoundError if the account has no such delivery.
 * @throws ConflictError if a newer state of its purchase replaced it, or its URL or endpoint was removed.
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
  const replayed = await inTransaction(async (session) => {
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
  await giveTurns([replayed.receiverId]);
  return replayed;
}

/** `replayDelivery` for the operator, whoever the delivery belongs to. */
export async function replayAsOperator(id: string, by: ChangedBy): Promise<Delivery> {
  const row = await deliveries.findOne({ _id: id }, { projection: { accountId: 1 } });
  const account = row && (await AccountModel.findById(row.accountId).lean());
  if (!account) {
    throw new NotFoundError(say('noDelivery'));
  }
  return replayDelivery(account, id, by);
}

/**
 * Sends again what was created since a time and came to this state. @returns how many. They may be too many for one
 * database transaction, so that the audit log says first what is asked for, and then how many it were.
 * Rows whose URL was removed stay as they are.
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
  // What goes to a URL that a purchase brought is found by the sweep.
  await giveTurns(getReceiverIds(account));
  await recordAudit(null, { ...entry, action: 'webhook.replay-all.done', after: { ...which, count } });
  return count;
}

/** Where rows go now; empty for a URL of their own. */
type Target = { url: string; receiverId: string } | Record<string, never>;

/** The present URL of what a row was for; null if there is none any more. */
export function findTarget(account: UrlOwner, row: Pick<Delivery, 'channel' | 'endpointId'>): Target | null {
  if (row.channel === 'own') {
    return {};
  }
  const found = listUrlTargets(account).find(
    ({ channel, endpointId }) => channel === row.channel && endpointId === row.endpointId,
  );
  return found?.target ?? null;
}

/** Each with the filter of its rows. @param id Undefined: all there are, and what goes to a URL of its own. @throws NotFoundError */
function findTargets(account: UrlOwner, id: string | undefined): { rows: RowsOf; target: Target }[] {
  const all = listUrlTargets(account);
  if (id === undefined) {
    return [...all, { rows: { channel: 'own' }, target: {} }];
  }
  const endpoint = requireEndpoint(account, id);
  const endpointId = endpoint.id === defaultEndpointId ? undefined : endpoint.id;
  return all.filter((each) => each.channel === 'webhook' && each.endpointId === endpointId);
}

/** The rows that are for one URL. */
type RowsOf = Filter<Delivery>;

interface UrlTarget {
  channel: Exclude<DeliveryChannel, 'own'>;
  /** As rows have it: undefined for the first endpoint and the callback URL. */
  endpointId: string | undefined;
  rows: RowsOf;
  target: { url: string; receiverId: string };
}

/** Every endpoint and the callback URL of an account. */
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

/** A new run of the schedule. The attempts made so far stay in the log and in `x-attempt`. */
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
