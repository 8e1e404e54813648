import type { Statement } from './read-statement.js';

/** Where a reader of a statement stands: the statement as it was opened, and the last entry that was read. */
export interface StatementPosition {
  statement: Omit<Statement, 'walletId'>;
  after: number;
}

/** The place as text for a URL. It names no wallet: each reads its own with it. */
export function toCursor({ statement: { period, firstSeq, lastSeq }, after }: StatementPosition): string {
  const numbers = [period.start.getTime(), period.end.getTime(), firstSeq, lastSeq, after];
  return Buffer.from(numbers.map((each) => each.toString(36)).join('.')).toString('base64url');
}

/** @returns null for text that is no cursor. */
export function fromCursor(text: string): StatementPosition | null {
  const parts = Buffer.from(text, 'base64url').toString().split('.');
  const [start = -1, end = -1, firstSeq = 0, lastSeq = 0, after = -1] = parts.map((each) =>
    parseInt(each, 36),
  );
  const place = {
    statement: { period: { start: new Date(start), end: new Date(end) }, firstSeq, lastSeq },
    after,
  };
  const isWhole =
    start <= end &&
    firstSeq >= 1 &&
    firstSeq - 1 <= after &&
    after <= lastSeq &&
    Number.isSafeInteger(lastSeq);
  // Written the same way again, so that nothing else was said in it.
  return isWhole && !Number.isNaN(place.statement.period.end.getTime()) && toCursor(place) === text
    ? place
    : null;
}
