import { bySystem } from '../../audit/record-audit.js';
import { accountById } from '../../accounts/find-account.js';
import { adapterFor, connectionOf } from '../../providers/get-adapter.js';
import { now, nowMs } from '../../shared/clock.js';
import { DependencyError } from '../../shared/errors.js';
import { queue } from '../../jobs/queues.js';
import { orderOf } from './orders.js';
import { AttemptModel, type Attempt } from '../order.model.js';
import { openCase } from './record-contradiction.js';
import { reverseSale } from './reverse-sale.js';
import { TransactionModel, type Transaction } from '../purchase.model.js';

const retryMs = 60_000;
const checksMax = 20;

/**
 * Asks the provider once more about a sale that it says it took back. Only a status that is a reversal by itself
 * moves money; a plain "failed" after success goes to the operator. Safe to run twice: the question is claimed by
 * the number of checks, and the reversal by the state that was read.
 */
export async function verifySale(transactionId: string): Promise<void> {
  const transaction = await TransactionModel.findById(transactionId).lean<Transaction>();
  const attempt = await AttemptModel.findOne({ transactionId, status: 'OK' }).lean<Attempt>();
  if (transaction?.status !== 'SUCCESS' || !attempt) {
    return;
  }
  const adapter = adapterFor(attempt.providerKind);
  const lastMs = (attempt.lastCheckAt ?? attempt.sentAt)?.getTime() ?? 0;
  const waitMs = lastMs + adapter.traits.inquiryMinIntervalMs - nowMs();
  if (waitMs > 0) {
    await enqueueVerification(attempt, waitMs);
    return;
  }
  if (!(await claim(attempt))) {
    return;
  }
  const connection = connectionOf(await accountById(attempt.sellerId));
  const outcome = await adapter.inquire(connection, orderOf(transaction, attempt));
  switch (outcome.outcome) {
    case 'success':
      return;
    case 'reversed':
      await reverseSale(transaction, { message: outcome.message, by: bySystem });
      return;
    case 'refused':
    case 'not-found':
    case 'review':
      await openCase({
        transactionId,
        kind: 'reversal',
        detail: `Sold, but the provider now says ${outcome.outcome} (${outcome.code}): ${outcome.message}`,
      });
      return;
    case 'pending':
    case 'unknown':
    case 'not-sent':
      await (attempt.checks < checksMax
        ? enqueueVerification({ ...attempt, checks: attempt.checks + 1 }, retryMs)
        : openCase({
            transactionId,
            kind: 'reversal',
            detail: 'Sold; the provider told of a failure and does not confirm it.',
          }));
  }
}

async function claim(attempt: Attempt): Promise<boolean> {
  const result = await AttemptModel.updateOne(
    { _id: attempt._id, status: 'OK', checks: attempt.checks },
    { $set: { lastCheckAt: now() }, $inc: { checks: 1 } },
  );
  return result.matchedCount === 1;
}

/**
 * Adds the job that verifies a sale; its id is made of the checks so far, so that a repeated callback adds none.
 * @throws DependencyError while Redis is away: the provider will call again.
 */
export async function enqueueVerification(
  { _id, transactionId, checks }: Pick<Attempt, '_id' | 'transactionId' | 'checks'>,
  delayMs: number,
): Promise<void> {
  const jobId = `verify-${_id}-${checks}-${delayMs > 0 ? 'later' : 'now'}`;
  try {
    await queue('polling').add('verify', { v: 1, transactionId }, { jobId, delay: delayMs });
  } catch (error) {
    throw new DependencyError(error);
  }
}
