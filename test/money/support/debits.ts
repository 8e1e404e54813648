import { createAccount } from '../../../src/accounts/create-account.js';
import { getPostingClient } from '../../../src/database/mongo.js';
import { createDeposit } from '../../../src/deposits/create-deposit.js';
import { deposits, toStored, type Deposit } from '../../../src/deposits/deposit.model.js';
import { buildMovementLines } from '../../../src/money/journals/new-journal.js';
import type { Posting } from '../../../src/money/posting/posting.js';
import { newId } from '../../../src/shared/ids.js';

/** Creates a buyer's wallet with this balance in rupiah. */
export async function openWallet(balance: number): Promise<string> {
  const { account } = await createAccount({ username: `b${newId()}`, role: 'buyer' });
  await createDeposit({ account, amount: balance, refId: newId() });
  return account._id;
}

/** Builds a debit with its own document, under an idempotency key of the account. */
export function debit(accountId: string, amount: number, refId = newId()): Posting {
  const document: Deposit = {
    _id: newId(),
    accountId,
    refId,
    amount,
    status: 'completed',
    balanceBefore: 0,
    balanceAfter: 0,
    createdAt: new Date(),
    completedAt: null,
  };
  return {
    accountId,
    kind: 'adjustment',
    subjectId: document._id,
    wallet: { balance: -amount },
    lines: buildMovementLines(amount, { from: `wallet:${accountId}`, to: 'platform:adjustments' }),
    inserts: [
      { collection: deposits.collectionName, document: toStored(document), key: { accountId, refId } },
    ],
  };
}

export function namespaceOf(collection: string): string {
  return `${getPostingClient().db().databaseName}.${collection}`;
}

/** Returns the error with which the promise rejects, or null if it resolves. */
export function failureOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => null,
    (error: unknown) => error,
  );
}
