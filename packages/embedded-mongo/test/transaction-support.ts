import { expect } from 'chai';
import type { ClientSession, Db, Document, MongoClient } from 'mongodb';

/**
 * Runs a test with two sessions that each have an open transaction. Transactions that are still
 * open at the end are aborted.
 */
export async function inTransactions(
  client: MongoClient,
  run: (a: ClientSession, b: ClientSession) => Promise<void>,
): Promise<void> {
  const sessions = [client.startSession(), client.startSession()] as const;
  try {
    sessions.forEach((session) => session.startTransaction());
    await run(...sessions);
  } finally {
    for (const session of sessions) {
      if (session.inTransaction()) {
        await session.abortTransaction();
      }
      await session.endSession();
    }
  }
}

/** True if a promise is still pending after the server has processed several other commands. */
export async function isPending(db: Db, promise: Promise<unknown>): Promise<boolean> {
  let settled = false;
  promise.then(
    () => (settled = true),
    () => (settled = true),
  );
  for (let i = 0; i < 5; i++) {
    await db.command({ ping: 1 });
  }
  return !settled;
}

export function expectConflict(error: Document): void {
  expect(error).to.include({ code: 112 });
  expect(error['errorLabels']).to.include('TransientTransactionError');
}
