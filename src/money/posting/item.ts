import { newId } from '../../shared/ids.js';
import type { Posting, PostingResult } from './posting.js';

/** A posting in the engine, with its waiting caller. */
export interface QueuedPosting {
  posting: Posting;
  /**
   * Created once, outside the transaction. It identifies the posting if the database response is
   * lost.
   */
  journalId: string;
  /** Keys that no other posting of the same group may claim. */
  claims: string[];
  /** False once the caller has its result. */
  isOpen: boolean;
  /** True once a commit that may contain this posting was sent. */
  mayBeWritten: boolean;
  answer(result: PostingResult): void;
  fail(error: unknown): void;
}

export function createQueuedPosting(
  posting: Posting,
  caller: { answer: (result: PostingResult) => void; fail: (error: unknown) => void },
): QueuedPosting {
  const item: QueuedPosting = {
    posting,
    journalId: newId(),
    claims: getClaims(posting),
    isOpen: true,
    mayBeWritten: false,
    answer(result) {
      item.isOpen = false;
      caller.answer(result);
    },
    fail(error) {
      item.isOpen = false;
      caller.fail(error);
    },
  };
  return item;
}

/** Returns the collection and the client's key of an insert as one string. */
export function getInsertKey(collection: string, key: Record<string, string>): string {
  return [collection, ...Object.values(key)].join('|');
}

function getClaims({ kind, subjectId, inserts = [], changes = [], barredBy }: Posting): string[] {
  return [
    `${kind}|${subjectId}`,
    ...(barredBy ? [`${barredBy.collection}|${barredBy.rivals}`] : []),
    ...inserts.flatMap(({ collection, key }) => (key ? [getInsertKey(collection, key)] : [])),
    ...changes.flatMap(({ collection, id }) =>
      typeof id === 'string' ? [`${collection}|${id}`] : id.map((each) => `${collection}|${each}`),
    ),
  ];
}
