import { findConfirmed } from '../database/find-confirmed.js';
import { NotFoundError, ConflictError } from '../shared/errors.js';
import { say, asWritten } from '../shared/say.js';
import { deposits, type Deposit } from './deposit.model.js';
import { getExistingAccount } from '../accounts/find-account.js';
import { buildAuditInsertAfter, type ChangedBy, buildAuditEntryInsert } from '../audit/record-audit.js';
import { toInt64 } from '../database/typed-collection.js';
import { post } from '../money/posting/post.js';
import type { Insert, Posting, WalletAfter } from '../money/posting/posting.js';
import { announceDeliveries } from '../webhooks/deliver/delivery-jobs.js';
import { deliveries } from '../webhooks/deliver/delivery.model.js';
import { buildBalanceTooLargeError } from '../money/wallets/wallet-balance.js';
import { buildCompletedDeposit, buildDepositMovement } from './create-deposit.js';
import { buildDepositCompletedDeliveries } from './present-deposit.js';

/**
 * Returns a deposit as a majority of the replica set holds it, because callers report "credited
 * already", which must survive a failover.
 * @throws NotFoundError if there is no deposit with this id.
 */
export async function requireDeposit(depositId: string, accountId?: string): Promise<Deposit> {
  const owner = accountId === undefined ? {} : { accountId };
  const [deposit] = await findConfirmed(deposits, { _id: depositId, ...owner });
  if (!deposit) {
    throw new NotFoundError(say('noDeposit', { id: depositId }));
  }
  return deposit;
}

/**
 * Returns why received money does not credit this deposit, or null if it does. Payment
 * notifications and bank lines share this rule. The amounts must be equal.
 * @param amount The received amount in rupiah.
 */
export function findMismatch(
  { _id, amount: asked, status }: Pick<Deposit, '_id' | 'amount' | 'status'>,
  amount: number,
): string | null {
  if (asked !== amount) {
    return `the amount of deposit ${_id} is ${asked}`;
  }
  return status === 'pending' ? null : `deposit ${_id} is already ${status}`;
}

/**
 * Credits a pending deposit and sends `deposit.completed` to its account. Safe to run twice: the
 * second call changes nothing.
 *
 * @param by The actor who vouches for the money.
 * @param also Further inserts and changes of the same posting. If one of the changes is refused,
 *   nothing is written and the deposit stays pending.
 * @throws NotFoundError if there is no such deposit.
 * @throws ConflictError if the deposit was rejected.
 *
 * @throws ValidationError if the balance would be too large.
 */
export async function confirmDeposit(
  depositId: string,
  by: ChangedBy,
  also: Pick<Posting, 'inserts' | 'changes'> = {},
): Promise<{ deposit: Deposit; changed: boolean }> {
  const pending = await requireDeposit(depositId);
  if (pending.status !== 'pending') {
    return returnUnchanged(pending);
  }
  const account = await getExistingAccount(pending.accountId);
  const rowsOf = (after: WalletAfter) =>
    buildDepositCompletedDeliveries(account, buildCompletedDeposit(pending, after));
  const result = await post({
    ...buildDepositMovement(pending),
    changes: [
      ...(also.changes ?? []),
      {
        collection: deposits.collectionName,
        id: depositId,
        expect: { status: 'pending' },
        setAfter: (after) => buildCompletion(buildCompletedDeposit(pending, after)),
      },
    ],
    inserts: [
      ...(also.inserts ?? []),
      buildConfirmationAudit(pending, by),
      // The endpoints are known before the posting. The bodies need the balance after the movement.
      ...buildDepositCompletedDeliveries(account, pending).map((_row, index) => ({
        collection: deliveries.collectionName,
        documentAfter: (after: WalletAfter) => rowsOf(after)[index] ?? {},
      })),
    ],
  });
  switch (result.outcome) {
    case 'posted':
      if (result.wallet) {
        await announceDeliveries(rowsOf(result.wallet));
      }
      return { deposit: await requireDeposit(depositId, pending.accountId), changed: true };
    case 'duplicate':
    case 'stale':
      return returnUnchanged(await requireDeposit(depositId, pending.accountId));
    case 'too-large':
      throw buildBalanceTooLargeError();
    case 'insufficient':
      throw new Error('Unexpected posting result for a deposit');
  }
}

function returnUnchanged(deposit: Deposit): { deposit: Deposit; changed: boolean } {
  if (deposit.status === 'rejected') {
    throw new ConflictError(
      asWritten(`Deposit ${deposit._id} was rejected; the account must request a new one.`),
    );
  }
  return { deposit, changed: false };
}

function buildCompletion({ status, balanceBefore, balanceAfter, completedAt }: Deposit) {
  return { status, balanceBefore: toInt64(balanceBefore), balanceAfter: toInt64(balanceAfter), completedAt };
}

function buildConfirmationAudit(pending: Deposit, by: ChangedBy): Insert {
  return buildAuditInsertAfter(({ balance }: WalletAfter) => ({
    ...by,
    action: 'deposit.confirm',
    subject: { kind: 'deposit', id: pending._id },
    before: { status: pending.status },
    after: { status: 'completed', amount: pending.amount, balanceAfter: balance },
  }));
}

/**
 * Rejects a pending deposit whose money did not arrive. It can never be credited afterwards.
 * Rejecting twice changes nothing.
 * @throws NotFoundError if there is no such deposit.
 * @throws ConflictError if the deposit was credited.
 */
export async function rejectDeposit(
  depositId: string,
  by: ChangedBy,
): Promise<{ deposit: Deposit; changed: boolean }> {
  const { accountId, amount } = await requireDeposit(depositId);
  const { outcome } = await post({
    accountId,
    kind: 'deposit-rejection',
    subjectId: depositId,
    changes: [
      {
        collection: deposits.collectionName,
        id: depositId,
        expect: { status: 'pending' },
        set: { status: 'rejected' },
      },
    ],
    inserts: [
      buildAuditEntryInsert({
        ...by,
        action: 'deposit.reject',
        subject: { kind: 'deposit', id: depositId },
        before: { status: 'pending' },
        after: { status: 'rejected', amount },
      }),
    ],
  });
  const deposit = await requireDeposit(depositId);
  if (deposit.status !== 'rejected') {
    throw new ConflictError(
      asWritten(`Deposit ${depositId} is ${deposit.status}; only a pending one can be rejected.`),
    );
  }
  return { deposit, changed: outcome === 'posted' };
}
