import { newId } from '../../shared/ids.js';
import type { Posting, PostingResult } from './posting.js';

/** A posting on its way through the engine, and who waits for it. */
export interface QueuedPosting {
  posting: Posting;
  /** Made once, outside: a repeat after a lost answer is recognised by it. */
  journalId: string;
  /** What a second posting of the same group must not touch. */
  claims: string[];
  /** False once its caller has been answered. */
  isOpen: boolean;
  /** True from the first commit that might hold it. */
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

/** The client's own name of an insert, as one word. */
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
