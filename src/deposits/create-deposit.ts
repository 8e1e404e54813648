import { env } from '../../config/env.js';
import type { Account } from '../accounts/account.model.js';
import { accountById } from '../accounts/find-account.js';
import { recordAudit, type ChangedBy } from '../audit/record-audit.js';
import { now } from '../shared/clock.js';
import { ConflictError, NotFoundError } from '../shared/errors.js';
import { newId } from '../shared/ids.js';
import { inTransaction, type Session } from '../database/mongo.js';
import { writeOnce } from '../database/write-once.js';
import { depositCompletedDeliveries } from './deposit-events.js';
import { announceDeliveries } from '../webhooks/announce-deliveries.js';
import { insertDeliveries } from '../webhooks/insert-deliveries.js';
import { changeWallet } from '../money/wallets/change-wallet.js';
import { DepositModel, type Deposit } from './deposit.model.js';
import { move } from '../money/journals/insert-journals.js';
import { WalletModel, type Wallet } from '../money/wallets/wallet.model.js';

export interface DepositRequest {
  account: Account;
  /** Rupiah. */
  amount: number;
  refId: string;
}

/**
 * Records a deposit (docs/interface.md#deposits). DEPOSIT_MODE=instant credits it at once; `confirm` leaves it
 * pending until the operator confirms it, so that a client call alone never makes money in production.
 * @returns the deposit as stored, and whether this call made it (a repeat of the same request returns the first).
 * @throws ConflictError if the ref_id was used for another amount.
 */
export async function createDeposit(
  request: DepositRequest,
): Promise<{ deposit: Deposit; created: boolean }> {
  const { stored, created } = await writeOnce({
    find: () => findDeposit(request),
    write: (session) => writeDeposit(session, request),
    wallet: request.account._id,
  });
  if (!created) {
    refuseAnother(stored, request);
  }
  return { deposit: stored, created };
}

/**
 * Credits a pending deposit and tells its account (`deposit.completed`). Safe to run twice: the second time
 * changes nothing.
 * @param by The operator who vouches for the money.
 * @throws NotFoundError if there is no such deposit.
 */
export async function confirmDeposit(
  depositId: string,
  by: ChangedBy,
): Promise<{ deposit: Deposit; changed: boolean }> {
  const known = await DepositModel.findById(depositId).lean<Deposit>();
  if (!known) {
    throw new NotFoundError(`There is no deposit ${depositId}.`);
  }
  const account = await accountById(known.accountId);
  const result = await inTransaction(async (session) => {
    const deposit = await DepositModel.findById(depositId).session(session).lean<Deposit>();
    if (deposit?.status !== 'pending') {
      return { deposit: deposit ?? known, changed: false, rows: [] };
    }
    const completed = await complete(session, deposit);
    const rows = depositCompletedDeliveries(account, completed);
    await insertDeliveries(session, rows);
    await recordAudit(session, {
      ...by,
      action: 'deposit.confirm',
      subject: { kind: 'deposit', id: deposit._id },
      before: { status: deposit.status },
      after: { status: completed.status, amount: completed.amount, balanceAfter: completed.balanceAfter },
    });
    return { deposit: completed, changed: true, rows };
  });
  await announceDeliveries(result.rows);
  return { deposit: result.deposit, changed: result.changed };
}

async function writeDeposit(session: Session, { account, amount, refId }: DepositRequest): Promise<Deposit> {
  const wallet = await WalletModel.findById(account._id).session(session).lean<Wallet>();
  const balance = wallet?.balance ?? 0;
  const deposit: Deposit = {
    _id: newId(),
    accountId: account._id,
    refId,
    amount,
    status: 'pending',
    balanceBefore: balance,
    balanceAfter: balance,
    createdAt: now(),
    completedAt: null,
  };
  await DepositModel.create([deposit], { session });
  return env.DEPOSIT_MODE === 'instant' ? complete(session, deposit) : deposit;
}

async function complete(session: Session, deposit: Deposit): Promise<Deposit> {
  const wallet = await changeWallet(session, {
    walletId: deposit.accountId,
    balanceDelta: deposit.amount,
    kind: 'deposit',
    subjectId: deposit._id,
    lines: move(deposit.amount, { from: 'platform:clearing', to: `wallet:${deposit.accountId}` }),
  });
  const completion = {
    status: 'completed' as const,
    balanceBefore: wallet.balance - deposit.amount,
    balanceAfter: wallet.balance,
    completedAt: now(),
  };
  await DepositModel.updateOne({ _id: deposit._id }, { $set: completion }, { session });
  return { ...deposit, ...completion };
}

async function findDeposit({ account, refId }: DepositRequest): Promise<Deposit | null> {
  return DepositModel.findOne({ accountId: account._id, refId }).lean<Deposit>();
}

function refuseAnother(deposit: Deposit, request: DepositRequest): void {
  if (deposit.amount !== request.amount) {
    throw new ConflictError(
      `ref_id ${request.refId} was used for a deposit of ${deposit.amount}. Use a new ref_id for a new deposit.`,
    );
  }
}
