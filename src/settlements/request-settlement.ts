import { env } from '../../config/env.js';
import type { Account } from '../accounts/account.model.js';
import { nextBusinessDayAt } from '../shared/business-time.js';
import { now } from '../shared/clock.js';
import { ConflictError } from '../shared/errors.js';
import { newId } from '../shared/ids.js';
import type { Session } from '../database/mongo.js';
import { writeOnce } from '../database/write-once.js';
import { tryToAddJob } from '../jobs/add-job.js';
import { changeWallet } from '../money/wallets/change-wallet.js';
import { move } from '../money/journals/insert-journals.js';
import { payOutJob } from './pay-out.job.js';
import { settlementSweepAt } from './settlement-outbox.js';
import { SettlementModel, type Settlement } from './settlement.model.js';

export interface SettlementRequest {
  account: Account;
  /** Rupiah. */
  amount: number;
  bankAccount: Settlement['bankAccount'];
  refId: string | null;
}

const payoutHour = 17;

/**
 * Asks for a withdrawal (docs/interface.md#settlements). The whole amount leaves the available balance at once and is
 * held until it is paid out or has failed.
 * Invariant: one settlement per {account, ref_id}; held money rises by exactly what the balance falls.
 * @throws InsufficientBalanceError (402/01), ConflictError (409/01) for a ref_id of another settlement.
 */
export async function requestSettlement(
  request: SettlementRequest,
): Promise<{ settlement: Settlement; created: boolean }> {
  const { stored, created } = await writeOnce({
    find: () => findByRef(request),
    write: (session) => writeSettlement(session, request),
    wallet: request.account._id,
  });
  if (created) {
    await enqueueSettlement(stored);
  } else {
    refuseAnother(stored, request);
  }
  return { settlement: stored, created };
}

/** Adds the payout job, after the commit. Without Redis the sweep does it later. */
export async function enqueueSettlement({ _id, needsApproval }: Settlement): Promise<void> {
  if (!needsApproval) {
    await tryToAddJob(payOutJob, { settlementId: _id });
  }
}

async function writeSettlement(session: Session, request: SettlementRequest): Promise<Settlement> {
  const { account, amount, bankAccount, refId } = request;
  const needsApproval = env.SETTLEMENT_NEW_ACCOUNT_REVIEW && !(await wasPaidBefore(session, request));
  const settlement: Settlement = {
    _id: newId(),
    accountId: account._id,
    refId,
    amount,
    fee: env.SETTLEMENT_FEE,
    netAmount: amount - env.SETTLEMENT_FEE,
    bankAccount,
    status: 'pending',
    needsApproval,
    reason: null,
    estimatedCompletion: nextBusinessDayAt(payoutHour),
    epoch: 0,
    nextActionAt: needsApproval ? null : settlementSweepAt(),
    createdAt: now(),
    finalAt: null,
  };
  await SettlementModel.create([settlement], { session });
  await changeWallet(session, {
    walletId: account._id,
    balanceDelta: -amount,
    heldDelta: amount,
    kind: 'settlement-request',
    subjectId: settlement._id,
    lines: move(amount, { from: `wallet:${account._id}`, to: `held:${account._id}` }),
  });
  return settlement;
}

async function wasPaidBefore(
  session: Session,
  { account, bankAccount }: SettlementRequest,
): Promise<boolean> {
  const paid = await SettlementModel.exists({
    accountId: account._id,
    'bankAccount.bankCode': bankAccount.bankCode,
    'bankAccount.accountNumber': bankAccount.accountNumber,
    status: 'completed',
  }).session(session);
  return paid !== null;
}

async function findByRef({ account, refId }: SettlementRequest): Promise<Settlement | null> {
  return refId === null
    ? null
    : SettlementModel.findOne({ accountId: account._id, refId }).lean<Settlement>();
}

function refuseAnother(settlement: Settlement, request: SettlementRequest): void {
  const { bankCode, accountNumber, accountName } = request.bankAccount;
  const same =
    settlement.amount === request.amount &&
    settlement.bankAccount.bankCode === bankCode &&
    settlement.bankAccount.accountNumber === accountNumber &&
    settlement.bankAccount.accountName === accountName;
  if (!same) {
    throw new ConflictError(
      `ref_id ${settlement.refId ?? ''} was used for another settlement. Use a new one.`,
    );
  }
}
