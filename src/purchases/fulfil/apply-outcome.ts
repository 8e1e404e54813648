import type { ProviderOutcome } from '../../providers/adapter.js';
import { adapterFor } from '../../providers/get-adapter.js';
import { nextPollAt } from '../../providers/schedule.js';
import { now, nowMs } from '../../shared/clock.js';
import { logger } from '../../shared/logger.js';
import { AttemptModel, type Attempt } from '../order.model.js';
import { noteRepeatedSerialNumber } from './note-repeated-serial-number.js';
import { notifyPending } from './notify-pending.js';
import { postpone } from './postpone.js';
import { putUnderReview } from './put-under-review.js';
import { settleFailure } from './conclude-failure.js';
import { settleSuccess } from './conclude-success.js';
import type { Transaction } from '../purchase.model.js';

/** `again`: look at the purchase once more now (the next seller). `done`: nothing more to do in this job. */
export type Next = 'again' | 'done';

/** "Not found" is believed only after so many in a row and after the provider's longest latency. */
const notFoundTimes = 5;

/**
 * Turns a provider's answer into a change of state (money.md 5, providers.md). Certain answers settle the money;
 * everything else leaves the purchase PROCESSING and asks again later.
 */
export async function applyOutcome(
  transaction: Transaction,
  attempt: Attempt,
  outcome: ProviderOutcome,
): Promise<Next> {
  logger.info('provider answered', {
    transactionId: transaction._id,
    attempt: attempt.n,
    sellerId: attempt.sellerId,
    outcome: outcome.outcome,
    code: outcome.code,
  });
  switch (outcome.outcome) {
    case 'success':
      await settleSuccess(transaction, attempt, outcome);
      await noteRepeatedSerialNumber(transaction, outcome.serialNumber);
      return 'done';
    case 'refused':
      return applyRefusal(transaction, attempt, outcome);
    case 'reversed':
      await settleFailure(transaction, attempt, { code: '01', message: outcome.message });
      return 'done';
    case 'not-sent':
      await closeAttempt(attempt, { code: 'not-sent', message: outcome.message });
      return 'again';
    case 'not-found':
      return applyNotFound(transaction, attempt, outcome);
    case 'review':
      await putUnderReview(transaction, outcome.message);
      return 'done';
    case 'pending':
      await askLater(transaction, attempt, outcome);
      await notifyPending(transaction);
      return 'done';
    case 'unknown':
      await askLater(transaction, attempt, outcome);
      return 'done';
  }
}

async function applyRefusal(
  transaction: Transaction,
  attempt: Attempt,
  refusal: Extract<ProviderOutcome, { outcome: 'refused' }>,
): Promise<Next> {
  if (refusal.failover === 'confirm' && attempt.checks === 0) {
    await askLater(transaction, attempt, refusal);
    return 'done';
  }
  if (refusal.failover === 'no') {
    await settleFailure(transaction, attempt, { code: refusal.clientCode, message: refusal.message });
    return 'done';
  }
  await closeAttempt(attempt, { code: refusal.clientCode, message: refusal.message });
  return 'again';
}

async function applyNotFound(
  transaction: Transaction,
  attempt: Attempt,
  outcome: { code: string; message: string },
): Promise<Next> {
  const ageMs = nowMs() - (attempt.sentAt ?? attempt.createdAt).getTime();
  const { longestLatencyMs } = adapterFor(attempt.providerKind).traits;
  if (attempt.notFound + 1 >= notFoundTimes && ageMs > longestLatencyMs) {
    await closeAttempt(attempt, { code: 'not-executed', message: outcome.message });
    return 'again';
  }
  await askLater(transaction, attempt, outcome, { notFound: attempt.notFound + 1 });
  return 'done';
}

/** The provider certainly did not and will not execute it: the attempt is closed, the debit stays for the next one. */
async function closeAttempt(attempt: Attempt, reason: { code: string; message: string }): Promise<void> {
  await AttemptModel.updateOne(
    { _id: attempt._id, open: true, leaseToken: attempt.leaseToken },
    { $set: { status: 'REJECTED', open: false, ...reason, updatedAt: now() } },
  );
}

async function askLater(
  transaction: Transaction,
  attempt: Attempt,
  answer: { code: string; message: string },
  { notFound }: { notFound: number } = { notFound: 0 },
): Promise<void> {
  await AttemptModel.updateOne(
    { _id: attempt._id, open: true },
    {
      $set: {
        status: 'UNKNOWN',
        notFound,
        code: answer.code,
        message: answer.message,
        leaseUntil: null,
        updatedAt: now(),
      },
    },
  );
  const due = nextPollAt(
    { sentAt: attempt.sentAt ?? attempt.createdAt, checks: attempt.checks, lastCheckAt: attempt.lastCheckAt },
    adapterFor(attempt.providerKind).traits,
  );
  if (due) {
    await postpone(transaction, due.getTime() - nowMs());
  } else {
    await putUnderReview(transaction, 'The provider has not given a final answer while it could be asked.');
  }
}
