import { BSON } from 'mongodb';
import { limits } from '../../../config/limits.js';
import { DependencyError } from '../../shared/errors.js';
import { UnknownOutcomeError } from '../../database/mongo.js';
import { traced } from '../../shared/tracing.js';
import { within } from '../../shared/within.js';
import { requireUniqueIndexes, uniqueIndexesWereSeen } from '../../database/unique-indexes.js';
import { documentOf } from './document-of.js';
import { newItem, keyOf, type Item } from './item.js';
import { enqueue } from './lanes.js';
import type { Posting, PostingResult } from './posting.js';

/** Keyed postings on their way: a repeat shares the fate of the first instead of colliding with it. */
const underWay = new Map<string, { posting: Posting; result: Promise<PostingResult> }>();

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
  check(posting);
  const { kind, subjectId } = posting;
  const attributes = { 'topup.posting': kind, 'topup.subject_id': subjectId };
  return traced({ name: `posting ${kind}`, kind: 'internal', attributes }, async (span) => {
    const result = await writeInTime(posting, deadlineMs);
    span.note({ 'topup.outcome': result.outcome });
    return result;
  });
}

async function writeInTime(posting: Posting, deadlineMs: number): Promise<PostingResult> {
  const startedMs = performance.now();
  if (!uniqueIndexesWereSeen()) {
    await within(deadlineMs, requireUniqueIndexes(), indexesLate);
  }
  const keyed = posting.inserts?.find(({ key }) => key);
  if (!keyed?.key) {
    return hand(posting, deadlineMs);
  }
  const key = keyOf(keyed.collection, keyed.key);
  for (let first = underWay.get(key); first; first = underWay.get(key)) {
    const result = await first.result;
    if (result.outcome === 'posted' || result.outcome === 'duplicate') {
      return shared(result, first.posting);
    }
    // A refusal is of the moment, and of the amount, that the first one asked for.
  }
  const leftMs = deadlineMs - (performance.now() - startedMs);
  const result = hand(posting, Math.max(0, leftMs)).finally(() => underWay.delete(key));
  underWay.set(key, { posting, result });
  return result;
}

function indexesLate(): Error {
  return new DependencyError(new Error('The indexes could not be looked at in time'));
}

function shared(result: PostingResult, first: Posting): PostingResult {
  if (result.outcome !== 'posted') {
    return result;
  }
  const keyed = first.inserts?.find(({ key }) => key);
  const document = keyed && documentOf(keyed, result.wallet);
  // As it would be read: money as numbers.
  return { outcome: 'duplicate', stands: document ? BSON.deserialize(BSON.serialize(document)) : null };
}

function hand(posting: Posting, deadlineMs: number): Promise<PostingResult> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      tooLate(item);
    }, deadlineMs);
    const item = newItem(posting, {
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
function tooLate(item: Item): void {
  const cause = new Error(`Posting ${item.posting.kind} of ${item.posting.subjectId} was not done in time`);
  item.fail(item.mayBeWritten ? new UnknownOutcomeError(cause) : new DependencyError(cause));
}

/** @throws Error for a posting that no caller may make: a bug, before anything is written. */
function check({ kind, subjectId, lines, wallet }: Posting): void {
  const sum = (lines ?? []).reduce((total, line) => total + line.amount, 0);
  if (sum !== 0 || (lines && lines.length < 2) || (wallet && !lines)) {
    throw new Error(`Posting ${kind} of ${subjectId} does not balance: ${sum}`);
  }
}
