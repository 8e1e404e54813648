/**
 * A lane writes groups of postings one after another. Postings that arrive while a group is written
 * form the next group. There is no timer, so a single posting never waits.
 *
 * The account selects the lane, so a process never has a wallet in two concurrent groups.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { MongoServerError } from 'mongodb';
import { limits } from '../../../config/limits.js';
import { DependencyError } from '../../shared/errors.js';
import { getShardRange, shardRanges } from '../../database/sharding.js';
import { isMongoUnavailable, isTransient, UnknownOutcomeError } from '../../database/mongo.js';
import { logger } from '../../shared/logger.js';
import { NotCommittedError } from './commit.js';
import { MismatchError } from './commands.js';
import type { QueuedPosting } from './item.js';
import { groupBy } from '../../shared/collections.js';
import { countFailedPosting, countRetry, observeGroup } from './posting-metrics.js';
import { writeGroup } from './write-group.js';

/** Maximum number of mismatches in a group. After that, its postings are tried separately. */
const mismatchesMax = 4;

interface Lane {
  waiting: QueuedPosting[];
  isBusy: boolean;
  /**
   * The only account of this lane, because its postings kept conflicting. Null for a shared lane.
   */
  accountId: string | null;
}

/**
 * Lanes of accounts in one shard range are adjacent, so that each group is written on one shard.
 */
const sharedLanes: Lane[] = Array.from({ length: shardRanges * limits.postingLanes }, () => createLane(null));
/**
 * Lanes of accounts whose postings keep conflicting, so that these postings do not block others.
 */
const ownLanes = new Map<string, Lane>();

export function enqueue(item: QueuedPosting): void {
  const lane = getLane(item.posting.accountId);
  lane.waiting.push(item);
  if (!lane.isBusy) {
    void drain(lane);
  }
}

function createLane(accountId: string | null): Lane {
  return { waiting: [], isBusy: false, accountId };
}

function getLane(accountId: string): Lane {
  return ownLanes.get(accountId) ?? (sharedLanes[getLaneNumber(accountId)] as Lane);
}

/** Returns the shared lane of an account. It is the same in every process. */
export function getLaneNumber(accountId: string): number {
  return getShardRange(accountId) * limits.postingLanes + (hashFnv1a(accountId) % limits.postingLanes);
}

function hashFnv1a(text: string): number {
  let value = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    value = Math.imul(value ^ text.charCodeAt(index), 0x01000193) >>> 0;
  }
  return value;
}

async function drain(lane: Lane): Promise<void> {
  lane.isBusy = true;
  while (lane.waiting.length > 0) {
    await settle(takeGroup(lane), lane);
  }
  lane.isBusy = false;
  if (lane.accountId !== null) {
    ownLanes.delete(lane.accountId);
  }
}

/** Takes the next postings that share no claims. The others keep their order for the next group. */
function takeGroup(lane: Lane): QueuedPosting[] {
  const group: QueuedPosting[] = [];
  const later: QueuedPosting[] = [];
  const claimed = new Set<string>();
  const open = lane.waiting.filter((each) => each.isOpen);
  let next = 0;
  for (; next < open.length && group.length < limits.postingGroupMax; next++) {
    const item = open[next] as QueuedPosting;
    (item.claims.some((each) => claimed.has(each)) ? later : group).push(item);
    // Skipped postings also claim their keys, so that no later posting overtakes them.
    item.claims.forEach((each) => claimed.add(each));
  }
  lane.waiting = [...later, ...open.slice(next)];
  return group;
}

/**
 * Writes the postings and gives each caller its result, or moves the postings to a lane of their
 * own.
 */
async function settle(items: QueuedPosting[], lane: Lane, careful = false): Promise<void> {
  let mismatches = 0;
  for (let attempt = 1, open = items; ; attempt++) {
    open = open.filter((each) => each.isOpen);
    if (open.length === 0) {
      return;
    }
    try {
      const group = open;
      const results = await observeGroup(group.length, () => writeGroup(group, { careful }));
      results.forEach((result, item) => item.answer(result));
      open = open.filter((each) => !results.has(each));
      if (open.length === 0) {
        return;
      }
    } catch (error) {
      if (error instanceof UnknownOutcomeError) {
        open.forEach((each) => each.fail(error));
        return;
      }
      // Mismatches have their own counter, because an attempt that fails with a conflict may not
      // have checked the postings.
      mismatches += error instanceof MismatchError ? 1 : 0;
      const isRetried =
        isTransient(error) ||
        isMongoUnavailable(error) ||
        error instanceof NotCommittedError ||
        // A unique index refused a posting that the snapshot allowed, so a concurrent write was
        // first.
        (error instanceof MismatchError && mismatches < mismatchesMax);
      if (!isRetried) {
        await settleOneByOne(open, lane, error);
        return;
      }
      countRetry({ reason: getRetryReason(error) });
      if (isConflict(error) && attempt >= 2 && lane.accountId === null) {
        await settleConflicting(open, lane, careful);
        return;
      }
      if (!(error instanceof MismatchError)) {
        await backOff(attempt, error);
      }
      careful ||= error instanceof MismatchError;
    }
  }
}

/** Splits a group in which one posting fails, so that only its caller gets the error. */
async function settleOneByOne(items: QueuedPosting[], lane: Lane, error: unknown): Promise<void> {
  if (items.length > 1) {
    await settleHalves(items, lane, true);
    return;
  }
  items.forEach((each) => each.fail(error instanceof MismatchError ? new DependencyError(error) : error));
  countFailedPosting();
  logger.error('posting failed', {
    kind: items[0]?.posting.kind,
    subjectId: items[0]?.posting.subjectId,
    error,
  });
}

async function settleHalves(items: QueuedPosting[], lane: Lane, careful: boolean): Promise<void> {
  const middle = Math.ceil(items.length / 2);
  await settle(items.slice(0, middle), lane, careful);
  await settle(items.slice(middle), lane, careful);
}

/**
 * Splits a group in which another process holds a document of a posting. Repeated halving finds the
 * account. Postings of one account stay together, so that a busy wallet is not written one posting
 * at a time.
 */
async function settleConflicting(items: QueuedPosting[], lane: Lane, careful: boolean): Promise<void> {
  const byAccount = [...groupBy(items, (each) => each.posting.accountId).values()];
  const middle = Math.ceil(byAccount.length / 2);
  if (byAccount.length === 1) {
    moveToOwnLanes(items);
    return;
  }
  await settle(byAccount.slice(0, middle).flat(), lane, careful);
  await settle(byAccount.slice(middle).flat(), lane, careful);
}

/**
 * Moves postings of one account to a lane of its own. Later postings of the account use the same
 * lane.
 */
function moveToOwnLanes(items: QueuedPosting[]): void {
  const accountId = items[0]?.posting.accountId ?? '';
  const lane = ownLanes.get(accountId) ?? createLane(accountId);
  ownLanes.set(accountId, lane);
  lane.waiting.push(...items);
  if (!lane.isBusy) {
    void drain(lane);
  }
}

/**
 * True for WriteConflict and LockTimeout, which mean that another process holds one of the
 * documents.
 */
function isConflict(error: unknown): boolean {
  return error instanceof MongoServerError && (error.code === 112 || error.code === 24);
}

function getRetryReason(error: unknown): string {
  if (error instanceof MismatchError) {
    return 'mismatch';
  }
  return isConflict(error) ? 'conflict' : 'away';
}

/** Waits with full jitter, up to 64 ms, so that conflicting groups do not collide again. */
async function backOff(attempt: number, error: unknown): Promise<void> {
  const limitMs = Math.min(64, 2 ** attempt);
  if (attempt % 20 === 0) {
    logger.warn('postings keep failing', { attempt, error });
  }
  await pause(Math.random() * limitMs);
}
