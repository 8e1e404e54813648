import { auditInsert, type ChangedBy } from '../audit/record-audit.js';
import { post } from '../money/posting/post.js';
import { ConflictError } from '../shared/errors.js';
import { asWritten } from '../shared/say.js';
import { deposits, type Deposit } from './deposit.model.js';
import { requireDeposit } from './require-deposit.js';

/**
 * pending -> rejected: the money never came, and this deposit will never be credited. Rejecting twice changes nothing.
 * @throws NotFoundError. ConflictError if it was credited.
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
      auditInsert({
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
      asWritten(`Deposit ${depositId} is ${deposit.status}; only a pending one is rejected.`),
    );
  }
  return { deposit, changed: outcome === 'posted' };
}
