import type { Filter } from 'mongodb';
import { AccountModel, type Account } from '../../accounts/account.model.js';
import { recordAudits, type ChangedBy } from '../../audit/record-audit.js';
import { runInTransaction, type Session } from '../../database/mongo.js';
import { AppError } from '../../shared/errors.js';
import { groupBy } from '../../shared/collections.js';
import { enqueueTurns } from '../deliver/delivery-jobs.js';
import { deliveries, type Delivery } from '../deliver/delivery.model.js';
import { buildReplayFields, replayAsOperator, findTarget } from './replay-deliveries.js';

/** Maximum number of ids per call. */
export const replayIdsMax = 100;
/** Maximum number of dead deliveries per call, oldest first. */
export const replayDeadMax = 1_000;
/** The count of dead deliveries stops at this number. */
export const deadCountedMax = 10_000;

const rowsPerTransactionMax = 250;

export interface ReplayResult {
  id: string;
  /** Why it was not replayed. Null if it was. */
  refusal: AppError | null;
}

/**
 * Replays several deliveries with `replayAsOperator`. A refused delivery does not stop the others.
 */
export async function replayMany(ids: readonly string[], by: ChangedBy): Promise<ReplayResult[]> {
  const replayed: ReplayResult[] = [];
  for (const id of ids) {
    try {
      await replayAsOperator(id, by);
      replayed.push({ id, refusal: null });
    } catch (error) {
      if (!(error instanceof AppError)) {
        throw error;
      }
      replayed.push({ id, refusal: error });
    }
  }
  return replayed;
}

export interface DeadFilter {
  /** If absent, all accounts are included and the other filters do not apply. */
  accountId?: string | undefined;
  refId?: string | undefined;
  /** Start of the range of creation times. */
  since?: Date | undefined;
  /** End of the range of creation times. */
  until?: Date | undefined;
}

/** Counts dead deliveries, up to `deadCountedMax`. */
export function countDead(which: DeadFilter): Promise<number> {
  return deliveries.countDocuments(buildDeadFilter(which), { limit: deadCountedMax });
}

/**
 * Replays dead deliveries, at most `replayDeadMax`, oldest first. Each part is one database
 * transaction with an audit entry per account. A part that a concurrent call has replayed changes
 * nothing. After a crash, the first parts stay replayed.
 * @returns The number of replayed deliveries, and the number whose URL was removed.
 */
export async function replayDead(
  which: DeadFilter,
  by: ChangedBy,
): Promise<{ replayed: number; without_url: number }> {
  const order = which.accountId === undefined ? { settledAt: 1 as const } : { createdAt: 1 as const };
  const ids = (
    await deliveries
      .find(buildDeadFilter(which))
      .sort(order)
      .limit(replayDeadMax)
      .project({ _id: 1 })
      .toArray()
  ).map(({ _id }) => String(_id));
  const receiverIds = new Set<string>();
  const sums = { replayed: 0, without_url: 0 };
  for (let start = 0; start < ids.length; start += rowsPerTransactionMax) {
    const part = ids.slice(start, start + rowsPerTransactionMax);
    const done = await runInTransaction((session) => replayBatch(session, part, by));
    sums.replayed += done.receiverIds.length;
    sums.without_url += done.withoutUrl;
    done.receiverIds.forEach((each) => receiverIds.add(each));
  }
  await enqueueTurns(receiverIds);
  return sums;
}

async function replayBatch(session: Session, ids: string[], by: ChangedBy) {
  const rows = await deliveries
    .find({ _id: { $in: ids }, state: 'dead' }, { session })
    .project<Pick<Delivery, '_id' | 'accountId' | 'channel' | 'endpointId' | 'receiverId'>>({
      accountId: 1,
      channel: 1,
      endpointId: 1,
      receiverId: 1,
    })
    .toArray();
  const accountIds = [...new Set(rows.map(({ accountId }) => accountId))];
  const found = await AccountModel.find({ _id: { $in: accountIds } }, null, { session }).lean<Account[]>();
  const accounts = new Map(found.map((each) => [each._id, each]));
  const replayable = rows.flatMap((row) => {
    const account = accounts.get(row.accountId);
    const target = account ? findTarget(account, row) : null;
    return target === null ? [] : [{ row, target }];
  });
  if (replayable.length > 0) {
    await deliveries.bulkWrite(
      replayable.map(({ row: { _id, accountId }, target }) => ({
        updateOne: {
          filter: { _id, accountId, state: 'dead' as const },
          update: { $set: { ...buildReplayFields(), ...target } },
        },
      })),
      { session, ordered: false },
    );
    const byAccount = groupBy(replayable, ({ row }) => row.accountId);
    await recordAudits(
      session,
      [...byAccount].map(([id, ofIt]) => ({
        ...by,
        action: 'webhook.replay-dead',
        subject: { kind: 'account' as const, id },
        before: { state: 'dead' },
        after: { state: 'due', count: ofIt.length },
      })),
    );
  }
  return {
    receiverIds: replayable.map(({ row, target }) =>
      row.channel === 'own' ? row.receiverId : target.receiverId,
    ),
    withoutUrl: rows.length - replayable.length,
  };
}

/** Indexes: dead_newest without an account; account_state_newest or account_ref with one. */
function buildDeadFilter({ accountId, refId, since, until }: DeadFilter): Filter<Delivery> {
  return {
    state: 'dead',
    event: { $nin: ['ping', 'config.updated'] },
    ...(accountId !== undefined && {
      accountId,
      ...(refId !== undefined && { refId }),
      ...((since ?? until) && {
        createdAt: { ...(since && { $gte: since }), ...(until && { $lte: until }) },
      }),
    }),
  };
}
