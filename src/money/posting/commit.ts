import { setTimeout as pause } from 'node:timers/promises';
import type { ClientSession } from 'mongodb';
import { UnknownOutcomeError } from '../../database/mongo.js';
import { logger } from '../../shared/logger.js';
import type { QueuedPosting } from './item.js';
import { findOwnPostings } from './look-up.js';
import { countUnknownCommit } from './posting-metrics.js';

/**
 * The group is retried. Either a caller already got the answer that nothing was written, or a
 * read-only transaction did not end with a certain answer.
 */
export class NotCommittedError extends Error {}

/** First pause between two verifications; it doubles. */
const firstPauseMs = 20;
const pauseMaxMs = 500;

/**
 * Commits. **Any** error after the commit was sent leaves the outcome unknown, whatever its class
 * or label. The commit is then repeated once. If that fails, a newer transaction of the same
 * session looks the postings up. MongoDB aborts the older transaction with it, so anything it does
 * not see was never committed.
 * @returns the postings that were certainly not written. Empty after a commit that was answered.
 * @throws NotCommittedError if nothing was written. UnknownOutcomeError once no caller waits any
 *   more.
 */
export async function commitOrVerify(
  session: ClientSession,
  posted: QueuedPosting[],
): Promise<QueuedPosting[]> {
  if (posted.some((each) => !each.isOpen)) {
    throw new NotCommittedError();
  }
  posted.forEach((each) => {
    each.mayBeWritten = true;
  });
  try {
    await session.commitTransaction();
    return [];
  } catch (error) {
    if (posted.length === 0) {
      // Nothing was written, and the reads are not certain.
      throw new NotCommittedError();
    }
    countUnknownCommit({});
    logger.warn('commit outcome unknown, retrying', { postings: posted.length, error });
    return await verifyUntilKnown(session, posted, error);
  }
}

async function verifyUntilKnown(
  session: ClientSession,
  posted: QueuedPosting[],
  first: unknown,
): Promise<QueuedPosting[]> {
  let pauseMs = firstPauseMs;
  let repeatCommit = true;
  do {
    await pause(pauseMs / 2 + (Math.random() * pauseMs) / 2);
    pauseMs = Math.min(pauseMaxMs, 2 * pauseMs);
    try {
      if (repeatCommit) {
        repeatCommit = false;
        await session.commitTransaction();
        return [];
      }
      return await verifyCommit(session, posted);
    } catch {
      // Try again. The first error is the one that is reported.
    }
  } while (posted.some((each) => each.isOpen));
  throw new UnknownOutcomeError(first);
}

async function verifyCommit(session: ClientSession, posted: QueuedPosting[]): Promise<QueuedPosting[]> {
  if (session.inTransaction()) {
    await session.abortTransaction();
  }
  session.startTransaction({ readConcern: { level: 'snapshot' }, writeConcern: { w: 'majority' } });
  const written = await findOwnPostings(session, posted);
  await session.commitTransaction();
  const lost = posted.filter((each) => !written.has(each));
  lost.forEach((each) => {
    each.mayBeWritten = false;
  });
  return lost;
}
