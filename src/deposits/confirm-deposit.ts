import { getExistingAccount } from '../accounts/find-account.js';
import { auditInsertAfter, type ChangedBy } from '../audit/record-audit.js';
import { int64 } from '../database/money-type.js';
import { post } from '../money/posting/post.js';
import type { Insert, Posting, WalletAfter } from '../money/posting/posting.js';
import { ConflictError } from '../shared/errors.js';
import { asWritten } from '../shared/say.js';
import { announceDeliveries } from '../webhooks/announce-deliveries.js';
import { deliveries } from '../webhooks/delivery.model.js';
import { buildBalanceTooLargeError } from '../money/wallets/balance-too-large.js';
import { buildCompletedDeposit, buildDepositMovement } from './create-deposit.js';
import { buildDepositCompletedDeliveries } from './deposit-events.js';
import { deposits, type Deposit } from './deposit.model.js';
import { requireDeposit } from './require-deposit.js';

/**
 * Credits a pending deposit and tells its account (`deposit.completed`). Safe to run twice: the second time
 * changes nothing.
 * @param by Who vouches for the money.
 * @param also What else stands or falls with it. Where its changes are refused nothing is changed, and the deposit still waits.
 * @throws NotFoundError if there is no such deposit. ConflictError if it was rejected. ValidationError if the balance would be too large.
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
      // Where each row goes is known before; what it says only after the movement.
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
      throw new Error('A deposit is never refused for its balance');
  }
}

function returnUnchanged(deposit: Deposit): { deposit: Deposit; changed: boolean } {
  if (deposit.status === 'rejected') {
    throw new ConflictError(
      asWritten(`Deposit ${deposit._id} was rejected; the account has to ask for a new one.`),
    );
  }
  return { deposit, changed: false };
}

function buildCompletion({ status, balanceBefore, balanceAfter, completedAt }: Deposit) {
  return { status, balanceBefore: int64(balanceBefore), balanceAfter: int64(balanceAfter), completedAt };
}

function buildConfirmationAudit(pending: Deposit, by: ChangedBy): Insert {
  return auditInsertAfter(({ balance }: WalletAfter) => ({
    ...by,
    action: 'deposit.confirm',
    subject: { kind: 'deposit', id: pending._id },
    before: { status: pending.status },
    after: { status: 'completed', amount: pending.amount, balanceAfter: balance },
  }));
}
