import { BSON } from 'mongodb';
import { limits } from '../../../config/limits.js';
import { DependencyError } from '../../shared/errors.js';
import { UnknownOutcomeError } from '../../database/mongo.js';
import { runInSpan } from '../../shared/tracing.js';
import { withTimeout } from '../../shared/concurrency.js';
import { requireUniqueIndexes, areUniqueIndexesVerified } from '../../database/indexes.js';
import { getInsertDocument, type Posting, type PostingResult } from './posting.js';
import { createQueuedPosting, getInsertKey, type QueuedPosting } from './item.js';
import { enqueue } from './lanes.js';
import type { Message } from '../../shared/say.js';

/**
 * Postings with a key that are in progress. A concurrent repeat shares the result of the first call
 * instead of conflicting with it.
 */
const keyedPostings = new Map<string, { posting: Posting; result: Promise<PostingResult> }>();

/**
 * Writes a posting atomically, in a group with concurrent postings. Each posting gets its own
 * result. All movements of money and all status changes of purchases use this function. Invariants:
 * docs/explanation/postings.md#the-posting-engine.
 *
 * @param options.deadlineMs The caller gets a result or an error within this time. A posting that
 *   has not started by then is not written.
 * @throws DependencyError (503/03) if MongoDB did not accept the posting in time. Nothing was
 *   written.
 *
 * @throws UnknownOutcomeError (503/03) if the posting may have been written. Retry with the same
 *   key or subject.
 */
export async function post(
  posting: Posting,
  { deadlineMs = limits.postingDeadlineMs }: { deadlineMs?: number } = {},
): Promise<PostingResult> {
  requireBalanced(posting);
  const { kind, subjectId } = posting;
  const attributes = { 'topup.posting': kind, 'topup.subject_id': subjectId };
  return runInSpan({ name: `posting ${kind}`, kind: 'internal', attributes }, async (span) => {
    const result = await writeBeforeDeadline(posting, deadlineMs);
    span.note({ 'topup.outcome': result.outcome });
    return result;
  });
}

async function writeBeforeDeadline(posting: Posting, deadlineMs: number): Promise<PostingResult> {
  const startedMs = performance.now();
  if (!areUniqueIndexesVerified()) {
    await withTimeout(deadlineMs, requireUniqueIndexes(), buildIndexTimeoutError);
  }
  const keyed = posting.inserts?.find(({ key }) => key);
  if (!keyed?.key) {
    return enqueueInLane(posting, deadlineMs);
  }
  const key = getInsertKey(keyed.collection, keyed.key);
  for (let first = keyedPostings.get(key); first; first = keyedPostings.get(key)) {
    const result = await first.result;
    if (result.outcome === 'posted' || result.outcome === 'duplicate') {
      return toRepeatResult(result, first.posting);
    }
    // Do not reuse a refusal of the first posting. The state or the amount may differ now.
  }
  const leftMs = deadlineMs - (performance.now() - startedMs);
  const result = enqueueInLane(posting, Math.max(0, leftMs)).finally(() => keyedPostings.delete(key));
  keyedPostings.set(key, { posting, result });
  return result;
}

function buildIndexTimeoutError(): Error {
  return new DependencyError(new Error('Checking the unique indexes timed out'));
}

function toRepeatResult(result: PostingResult, first: Posting): PostingResult {
  if (result.outcome !== 'posted') {
    return result;
  }
  const keyed = first.inserts?.find(({ key }) => key);
  const document = keyed && getInsertDocument(keyed, result.wallet);
  // Convert the document as a database read would, with money as numbers.
  return { outcome: 'duplicate', stands: document ? BSON.deserialize(BSON.serialize(document)) : null };
}

function enqueueInLane(posting: Posting, deadlineMs: number): Promise<PostingResult> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      failWithTimeout(item);
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

/**
 * Fails a posting at its deadline with the outcome that is known by then. Its lane drops the
 * posting, or continues to verify it.
 */
function failWithTimeout(item: QueuedPosting): void {
  const cause = new Error(`Posting ${item.posting.kind} of ${item.posting.subjectId} timed out`);
  item.fail(item.mayBeWritten ? new UnknownOutcomeError(cause) : new DependencyError(cause));
}

/**
 * Requires that the lines sum to 0.
 * @throws Error before anything is written, because unbalanced lines are a bug of the caller.
 */
function requireBalanced({ kind, subjectId, lines, wallet }: Posting): void {
  const sum = (lines ?? []).reduce((total, line) => total + line.amount, 0);
  if (sum !== 0 || (lines && lines.length < 2) || (wallet && !lines)) {
    throw new Error(`Posting ${kind} of ${subjectId} does not balance: ${sum}`);
  }
}

/**
 * Posts a change without a client key. A retry would be a second change, so after an unknown
 * outcome the message tells the caller not to repeat it.
 * @param advice Message that says what is unknown and where to check first.
 * @throws DependencyError if MongoDB did not accept the posting in time, or with `advice` if the
 *   outcome is unknown.
 */
export async function postWithoutKey(posting: Posting, advice: Message): Promise<PostingResult> {
  try {
    return await post(posting);
  } catch (error) {
    throw error instanceof UnknownOutcomeError ? new DependencyError(error, advice) : error;
  }
}
