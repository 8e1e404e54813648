import { AccountModel, type Account } from '../accounts/account.model.js';
import type { ChangedBy } from '../audit/record-audit.js';
import { findConfirmed } from '../database/find-confirmed.js';
import { runInTransaction, isDuplicateKey } from '../database/mongo.js';
import { CaseModel } from '../purchases/case.model.js';
import { now } from '../shared/clock.js';
import { ConflictError, ValidationError } from '../shared/errors.js';
import { say } from '../shared/say.js';
import { newId } from '../shared/ids.js';
import { logger } from '../shared/logger.js';
import { confirmDeposit, findMismatch } from './decide-deposit.js';
import { DepositModel, type Deposit } from './deposit.model.js';
import { PaymentModel, payments, toStored, type Payment } from './payment.model.js';

/** A payment as the notifier reports it. The amount is in rupiah. */
export type PaymentNotification = Pick<Payment, '_id' | 'username' | 'refId' | 'amount'>;

/**
 * Maximum number of attempts. A deposit changes once, from pending to final, so three are enough.
 */
const attemptsMax = 3;

/**
 * Credits the pending deposit of a payment, or opens a case if no deposit matches. The money has
 * arrived, so the payment is never refused. Invariant: each payment id counts once. The payment is
 * written in one transaction with the credited deposit or the opened case.
 *
 * @param from Address of the caller.
 * @returns The stored payment. A repeat returns the first result.
 * @throws ConflictError if the payment_id was used for another payment.
 */
export async function receivePayment(notice: PaymentNotification, from: string | null): Promise<Payment> {
  for (let look = 0; look < attemptsMax; look++) {
    const known = await findKnownPayment(notice._id);
    if (known) {
      return requireSamePayment(known, notice);
    }
    const found = await findMatchingDeposit(notice);
    if ('problem' in found) {
      return openPaymentCase(notice, found.problem);
    }
    const problem = await creditMatchingDeposit(found.deposit, notice, from);
    if (problem !== null) {
      return openPaymentCase(notice, problem);
    }
    // This call or a concurrent one has credited the deposit. The next attempt finds out which.
  }
  throw new Error(`Payment ${notice._id} was neither credited nor opened as a case`);
}

async function findMatchingDeposit(
  notice: PaymentNotification,
): Promise<{ deposit: Deposit } | { problem: string }> {
  const { username, refId, amount } = notice;
  const account = await AccountModel.findOne({ username }).lean<Account>();
  if (!account) {
    return { problem: 'the account does not exist' };
  }
  const deposit = await DepositModel.findOne({ accountId: account._id, refId }).lean<Deposit>();
  if (!deposit) {
    return { problem: 'the account has no deposit with this ref_id' };
  }
  const problem = findMismatch(deposit, amount);
  return problem === null ? { deposit } : { problem };
}

/** @returns The reason why the payment cannot be credited, or null. */
async function creditMatchingDeposit(
  deposit: Deposit,
  notice: PaymentNotification,
  from: string | null,
): Promise<string | null> {
  const by: ChangedBy = { actor: 'payments', from, reason: `payment ${notice._id}` };
  const payment = buildPayment(notice, { status: 'completed', depositId: deposit._id });
  try {
    await confirmDeposit(deposit._id, by, {
      inserts: [
        { collection: payments.collectionName, document: toStored(payment), key: { _id: payment._id } },
      ],
    });
    return null;
  } catch (error) {
    if (error instanceof ValidationError || error instanceof ConflictError) {
      return error.message;
    }
    throw error;
  }
}

async function openPaymentCase(notice: PaymentNotification, problem: string): Promise<Payment> {
  const { _id, username, refId, amount } = notice;
  const payment = buildPayment(notice, { status: 'case', depositId: null });
  const detail = `Payment ${_id} of ${amount} for ${username}, ref_id ${refId}, was not credited: ${problem}.`;
  try {
    await runInTransaction(async (session) => {
      await PaymentModel.create([payment], { session });
      await CaseModel.create(
        [
          {
            _id: newId(),
            transactionId: null,
            paymentId: _id,
            kind: 'unmatched-payment',
            detail,
            createdAt: payment.createdAt,
            resolvedAt: null,
          },
        ],
        { session },
      );
    });
  } catch (error) {
    const first = isDuplicateKey(error) && (await findKnownPayment(_id));
    if (!first) {
      throw error;
    }
    return requireSamePayment(first, notice);
  }
  logger.error('a case needs the operator', { paymentId: _id, detail });
  return payment;
}

/** Reads with majority confirmation, because an acknowledged payment is not notified again. */
async function findKnownPayment(paymentId: string): Promise<Payment | undefined> {
  const [known] = await findConfirmed(payments, { _id: paymentId });
  return known;
}

function buildPayment(notice: PaymentNotification, end: Pick<Payment, 'status' | 'depositId'>): Payment {
  return { ...notice, ...end, createdAt: now() };
}

function requireSamePayment(known: Payment, notice: PaymentNotification): Payment {
  const { _id, username, refId, amount } = known;
  if (username !== notice.username || refId !== notice.refId || amount !== notice.amount) {
    throw new ConflictError(say('paymentIdTaken', { id: _id, amount, username, ref: refId }));
  }
  return known;
}
