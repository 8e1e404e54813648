import type { KeyObject } from 'node:crypto';
import type { UpdateFilter } from 'mongodb';
import { now, nowMs } from '../shared/clock.js';
import { logger } from '../shared/logger.js';
import type { ClaimedDelivery } from './claim-deliveries.js';
import { nextAttemptMs } from './delivery-schedule.js';
import type { Delivery, DeliveryAttempt } from './delivery.model.js';
import { judgeAnswer, type Verdict } from './judge-answer.js';
import type { Sender } from './send-request.js';
import { deliveryHeaders } from './sign-delivery.js';
import { webhookLimits } from './webhook-limits.js';

export interface Attempted {
  verdict: Verdict;
  attempt: DeliveryAttempt;
  /** What the row becomes. */
  next: NextState;
}

export type NextState = Pick<Delivery, 'state' | 'nextAttemptAt' | 'settledAt' | 'expireAt'>;

/** Makes one request for a row that the caller holds. Nothing is written yet. */
export async function attemptDelivery(
  sender: Sender,
  row: ClaimedDelivery,
  { keys, requireAck }: { keys: readonly KeyObject[]; requireAck: boolean },
): Promise<Attempted> {
  const at = now();
  const startedMs = performance.now();
  const result = await sender.send({ url: row.url, headers: deliveryHeaders(row, keys), body: row.body });
  const verdict = judgeAnswer(result, requireAck);
  const attempt = {
    n: row.attemptCount + 1,
    at,
    durationMs: Math.round(performance.now() - startedMs),
    httpStatus: verdict.httpStatus,
    ack: verdict.ack,
    answer: result.kind === 'answered' ? startOf(result.answer) : null,
    error: verdict.error,
  };
  const next = nextState(row, verdict, result.kind === 'answered' ? result.retryAfterMs : null);
  // The operator hears of what was given up: it is kept, and can be replayed.
  logger.log(next.state === 'dead' && row.event !== 'ping' ? 'error' : 'info', 'webhook attempt', {
    deliveryId: row._id,
    receiverId: row.receiverId,
    event: row.event,
    n: attempt.n,
    outcome: verdict.outcome,
    state: next.state,
    httpStatus: attempt.httpStatus,
    durationMs: attempt.durationMs,
    error: attempt.error,
  });
  return { verdict, attempt, next };
}

/** What an attempt makes of its row. The write is conditional: see `createRecorder`. */
export function outcomeOf({ attempt, next }: Attempted): UpdateFilter<Delivery> {
  return {
    $set: { leaseToken: null, ...next },
    $inc: { attemptCount: 1, scheduleStep: 1 },
    $push: { attempts: { $each: [attempt], $slice: -webhookLimits.attemptsKept } },
  };
}

function nextState(row: ClaimedDelivery, verdict: Verdict, retryAfterMs: number | null): NextState {
  const settled = { nextAttemptAt: null, settledAt: now(), expireAt: null };
  switch (verdict.outcome) {
    case 'delivered':
      return {
        ...settled,
        state: 'delivered',
        expireAt: new Date(nowMs() + webhookLimits.deliveredKeptMs),
      };
    case 'blocked':
    case 'gone':
      return { ...settled, state: 'held' };
    case 'failed':
    case 'timeout': {
      const next = row.event === 'ping' ? null : retryAt(row, retryAfterMs);
      return next === null
        ? { ...settled, state: 'dead' }
        : { state: 'due', nextAttemptAt: new Date(next), settledAt: null, expireAt: null };
    }
  }
}

function retryAt(row: ClaimedDelivery, retryAfterMs: number | null): number | null {
  return nextAttemptMs({
    attemptsMade: row.scheduleStep + 1,
    startedAtMs: row.scheduleStartedAt.getTime(),
    nowMs: nowMs(),
    retryAfterMs,
  });
}

/** The first bytes of an answer; a character cut in two at the end is left out. */
function startOf(answer: Buffer): string {
  return answer
    .subarray(0, webhookLimits.answerKeptBytes)
    .toString('utf8')
    .replace(/\uFFFD$/, '');
}
