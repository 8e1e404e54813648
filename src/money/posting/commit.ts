import { setTimeout as pause } from 'node:timers/promises';
import type { ClientSession } from 'mongodb';
import { UnknownOutcomeError } from '../../database/mongo.js';
import { logger } from '../../shared/logger.js';
import type { QueuedPosting } from './item.js';
import { findOwnPostings } from './look-up.js';
import { countUnknownCommit } from './posting-metrics.js';

/**
 * Nothing of the group was written, so the group must be retried. Thrown if a caller was already
 * told that its posting was not written, or if the commit of a read-only transaction failed.
 */
export class NotCommittedError extends Error {}

/**
 * First pause in milliseconds between two verifications. It doubles each time, up to `pauseMaxMs`.
 */
const firstPauseMs = 20;
const pauseMaxMs = 500;

/**
 * Commits a group. **Any** error after the commit was sent leaves the outcome unknown, whatever its
 * class or label. The commit is then repeated once. If that fails too, a newer transaction of the
 * same session reads the postings.
 *
 * The newer transaction makes MongoDB abort the older one. So a posting that it does not see was
 * never committed.
 *
 * @returns The postings that were certainly not written. Empty after a successful commit.
 * @throws NotCommittedError if nothing was written.
 * @throws UnknownOutcomeError if the outcome is still unknown after the deadlines of all callers.
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
      // Nothing was written, but the reads are not confirmed by a majority.
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
      // Try again. If all attempts fail, the first error is reported.
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
