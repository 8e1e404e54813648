import { BSON } from 'mongodb';
import { limits } from '../../../config/limits.js';
import { DependencyError } from '../../shared/errors.js';
import { UnknownOutcomeError } from '../../database/mongo.js';
import { runInSpan } from '../../shared/tracing.js';
import { withTimeout } from '../../shared/concurrency.js';
import { requireUniqueIndexes, hasSeenUniqueIndexes } from '../../database/indexes.js';
import { getInsertDocument, type Posting, type PostingResult } from './posting.js';
import { createQueuedPosting, getInsertKey, type QueuedPosting } from './item.js';
import { enqueue } from './lanes.js';
import type { Message } from '../../shared/say.js';

/** Keyed postings on their way: a repeat shares the fate of the first instead of colliding with it. */
const keyedPostings = new Map<string, { posting: Posting; result: Promise<PostingResult> }>();

/**
 * The one way in which money moves and a purchase changes its state: writes a posting whole or not at all, together
 * with others that arrive at the same time, each with its own answer. Invariants: docs/explanation/postings.md#the-posting-engine.
 *
 * @param options.deadlineMs The caller is answered within this, and what has not begun by then is not written.
 * @throws DependencyError (503/03): MongoDB did not take it in time, and nothing was written.
 * @throws UnknownOutcomeError (503/03): it may have been written; ask again under the same key or subject.
 */
export async function post(
  posting: Posting,
  { deadlineMs = limits.postingDeadlineMs }: { deadlineMs?: number } = {},
): Promise<PostingResult> {
  requireBalanced(posting);
  const { kind, subjectId } = posting;
  const attributes = { 'topup.posting': kind, 'topup.subject_id': subjectId };
  return runInSpan({ name: `posting ${kind}`, kind: 'internal', attributes }, async (span) => {
    const result = await writeInTime(posting, deadlineMs);
    span.note({ 'topup.outcome': result.outcome });
    return result;
  });
}

async function writeInTime(posting: Posting, deadlineMs: number): Promise<PostingResult> {
  const startedMs = performance.now();
  if (!hasSeenUniqueIndexes()) {
    await withTimeout(deadlineMs, requireUniqueIndexes(), buildIndexTimeoutError);
  }
  const keyed = posting.inserts?.find(({ key }) => key);
  if (!keyed?.key) {
    return handToLane(posting, deadlineMs);
  }
  const key = getInsertKey(keyed.collection, keyed.key);
  for (let first = keyedPostings.get(key); first; first = keyedPostings.get(key)) {
    const result = await first.result;
    if (result.outcome === 'posted' || result.outcome === 'duplicate') {
      return toRepeatResult(result, first.posting);
    }
    // A refusal is of the moment, and of the amount, that the first one asked for.
  }
  const leftMs = deadlineMs - (performance.now() - startedMs);
  const result = handToLane(posting, Math.max(0, leftMs)).finally(() => keyedPostings.delete(key));
  keyedPostings.set(key, { posting, result });
  return result;
}

function buildIndexTimeoutError(): Error {
  return new DependencyError(new Error('The indexes could not be looked at in time'));
}

function toRepeatResult(result: PostingResult, first: Posting): PostingResult {
  if (result.outcome !== 'posted') {
    return result;
  }
  const keyed = first.inserts?.find(({ key }) => key);
  const document = keyed && getInsertDocument(keyed, result.wallet);
  // As it would be read: money as numbers.
  return { outcome: 'duplicate', stands: document ? BSON.deserialize(BSON.serialize(document)) : null };
}

function handToLane(posting: Posting, deadlineMs: number): Promise<PostingResult> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      failLate(item);
    }, deadlineMs);
    const item = createQueuedPosting(posting, {
      answer(result) {
        clearTimeout(timer);
        resolve(result);
      },
      fail(error) {
        clearTimeout(timer);
        reject(error instanceof Error ? error : new Error(String(error)));
      },
    });
    enqueue(item);
  });
}

/** Its lane drops it, or goes on to find out what became of it; the caller is told what is known now. */
function failLate(item: QueuedPosting): void {
  const cause = new Error(`Posting ${item.posting.kind} of ${item.posting.subjectId} was not done in time`);
  item.fail(item.mayBeWritten ? new UnknownOutcomeError(cause) : new DependencyError(cause));
}

/** @throws Error for a posting that no caller may make: a bug, before anything is written. */
function requireBalanced({ kind, subjectId, lines, wallet }: Posting): void {
  const sum = (lines ?? []).reduce((total, line) => total + line.amount, 0);
  if (sum !== 0 || (lines && lines.length < 2) || (wallet && !lines)) {
    throw new Error(`Posting ${kind} of ${subjectId} does not balance: ${sum}`);
  }
}

/**
 * `post`, for what its caller cannot name: the same request again would be another one, so whoever does not know the
 * outcome is not told to repeat it.
 * @param advice What is not known, and where to look first.
 * @throws DependencyError
 */
export async function postWithoutKey(posting: Posting, advice: Message): Promise<PostingResult> {
  try {
    return await post(posting);
  } catch (error) {
    throw error instanceof UnknownOutcomeError ? new DependencyError(error, advice) : error;
  }
}
