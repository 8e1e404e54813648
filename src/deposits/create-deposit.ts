import { env } from '../../config/env.js';
import { limits } from '../../config/limits.js';
import type { Account } from '../accounts/account.model.js';
import { findConfirmed } from '../database/find-confirmed.js';
import { post } from '../money/posting/post.js';
import type { Posting, WalletAfter } from '../money/posting/posting.js';
import {
  buildWalletMovement,
  getWallet,
  buildBalanceTooLargeError,
} from '../money/wallets/wallet-balance.js';
import { now, nowMs } from '../shared/clock.js';
import { ConflictError } from '../shared/errors.js';
import { say } from '../shared/say.js';
import { newId } from '../shared/ids.js';
import { deposits, toStored, type Deposit } from './deposit.model.js';

const dayMs = 86_400_000;

export interface DepositRequest {
  account: Account;
  /** Amount in rupiah. */
  amount: number;
  refId: string;
}

/**
 * Records a deposit (docs/reference/api/deposits.md). DEPOSIT_MODE=instant credits it at once.
 * DEPOSIT_MODE=confirm leaves it pending until it is confirmed, so that a client call alone never
 * creates money in production.
 *
 * The number of pending deposits per account is limited, because every bank statement is matched
 * with all pending deposits. Concurrent calls may exceed the limit slightly.
 *
 * @returns The deposit as stored, and whether this call created it. A repeat of the same request
 *   returns the first deposit.
 * @throws ConflictError if the ref_id was used for another amount, or `limits.pendingDepositsMax`
 *   deposits are pending.
 * @throws ValidationError if the balance would be too large.
 */
export async function createDeposit(
  request: DepositRequest,
): Promise<{ deposit: Deposit; created: boolean }> {
  const { _id: accountId } = request.account;
  const known = await findKnownDeposit(request);
  if (known) {
    return { deposit: requireSameDeposit(known, request), created: false };
  }
  const isInstant = env.DEPOSIT_MODE === 'instant';
  // An instant deposit is never pending and its posting sets the balances, so nothing is read here.
  const [{ balance }, waiting] = isInstant
    ? [{ balance: 0 }, 0]
    : await Promise.all([getWallet(accountId), countPendingDeposits(accountId)]);
  if (waiting >= limits.pendingDepositsMax) {
    // A concurrent repeat of this request may have created the deposit that reached the limit.
    const twin = await findKnownDeposit(request);
    if (twin) {
      return { deposit: requireSameDeposit(twin, request), created: false };
    }
    throw new ConflictError(say('tooManyPendingDeposits', { max: limits.pendingDepositsMax }));
  }
  const pending: Deposit = {
    _id: newId(),
    accountId,
    refId: request.refId,
    amount: request.amount,
    status: 'pending',
    balanceBefore: balance,
    balanceAfter: balance,
    createdAt: now(),
    completedAt: null,
  };
  const result = await post(isInstant ? buildInstantPosting(pending) : buildRequestPosting(pending));
  switch (result.outcome) {
    case 'posted':
      return {
        deposit: result.wallet ? buildCompletedDeposit(pending, result.wallet) : pending,
        created: true,
      };
    case 'duplicate':
      return { deposit: requireSameDeposit(result.stands as Deposit, request), created: false };
    case 'too-large':
      throw buildBalanceTooLargeError();
    case 'insufficient':
    case 'stale':
      throw new Error('Unexpected posting result for a deposit');
  }
}

async function findKnownDeposit({ account, refId }: DepositRequest): Promise<Deposit | undefined> {
  const [known] = await findConfirmed(deposits, { accountId: account._id, refId });
  return known;
}

/**
 * Counts pending deposits that can still be paid, up to the limit, with the index
 * `account_pending`.
 */
function countPendingDeposits(accountId: string): Promise<number> {
  const since = new Date(nowMs() - limits.depositPaidWithinDays * dayMs);
  return deposits.countDocuments(
    { accountId, status: 'pending', createdAt: { $gte: since } },
    { limit: limits.pendingDepositsMax },
  );
}

/** Returns the deposit in its state after the credit. */
export function buildCompletedDeposit(pending: Deposit, { balance }: Pick<WalletAfter, 'balance'>): Deposit {
  return {
    ...pending,
    status: 'completed',
    balanceBefore: balance - pending.amount,
    balanceAfter: balance,
    completedAt: now(),
  };
}

/** Builds the wallet movement that credits a deposit. */
export function buildDepositMovement(deposit: Deposit) {
  return buildWalletMovement('deposit', 'platform:clearing', deposit);
}

function buildInstantPosting(pending: Deposit): Posting {
  const { accountId, refId } = pending;
  return {
    ...buildDepositMovement(pending),
    inserts: [
      {
        collection: deposits.collectionName,
        documentAfter: (after) => toStored(buildCompletedDeposit(pending, after)),
        key: { accountId, refId },
      },
    ],
  };
}

function buildRequestPosting(pending: Deposit): Posting {
  const { _id, accountId, refId } = pending;
  return {
    accountId,
    kind: 'deposit-request',
    subjectId: _id,
    inserts: [
      { collection: deposits.collectionName, document: toStored(pending), key: { accountId, refId } },
    ],
  };
}

/** @throws ConflictError (409/01) if the deposit under this ref_id has another amount. */
function requireSameDeposit(deposit: Deposit, request: DepositRequest): Deposit {
  if (deposit.amount !== request.amount) {
    throw new ConflictError(say('depositRefTaken', { ref: request.refId, amount: deposit.amount }), {
      reason: 'ref_id_conflict',
    });
  }
  return deposit;
}
