import type { KeyObject } from 'node:crypto';
import type { UpdateFilter } from 'mongodb';
import { AccountModel, type Account } from '../../accounts/account.model.js';
import type { EndpointOwner } from '../../accounts/webhook-endpoint.js';
import { isOutage } from '../../jobs/is-outage.js';
import { now, nowMs } from '../../shared/clock.js';
import { logger } from '../../shared/logger.js';
import { runInSpan, getTraceparent } from '../../shared/tracing.js';
import type { ClaimedDelivery } from './claim-deliveries.js';
import { computeNextAttemptMs, scheduleAgeMaxMs } from './retry-schedule.js';
import { countAttempt, observeFirstAttempt, sampleAttempt } from './delivery-metrics.js';
import type { Delivery, DeliveryAttempt } from './delivery.model.js';
import { judgeResponse, type Verdict } from './judge-response.js';
import type { Sender, SendResult } from './send-request.js';
import { buildDeliveryHeaders, selectKeptHeaders, getDeliveryKeys } from './sign-delivery.js';
import { webhookLimits } from '../webhook-limits.js';

export interface AttemptResult {
  verdict: Verdict;
  attempt: DeliveryAttempt;
  /** Fields of the row after the attempt. */
  next: NextState;
}

export type NextState = Pick<Delivery, 'state' | 'nextAttemptAt' | 'settledAt' | 'expireAt'>;

interface ReceiverContext {
  account: EndpointOwner;
  requireAck: boolean;
}

/**
 * Makes one request for a row that the caller has leased. It does not write the result.
 * @throws Error if MongoDB or Redis is unavailable. The lease then expires, and the row is sent
 * again.
 */
export async function attemptDelivery(
  sender: Sender,
  row: ClaimedDelivery,
  receiving: ReceiverContext,
): Promise<AttemptResult> {
  const attributes = {
    'topup.delivery_id': row._id,
    'topup.receiver_id': row.receiverId,
    'topup.attempt': row.attemptCount + 1,
  };
  const under = row.traceparent ?? null;
  return runInSpan({ name: `webhook ${row.event}`, kind: 'client', attributes, under }, async (span) => {
    const attempted = await attemptOrReport(sender, row, receiving);
    const { outcome, httpStatus } = attempted.verdict;
    sampleAttempt(outcome === 'delivered');
    span.note({
      'topup.outcome': outcome,
      ...(httpStatus !== null && { 'http.response.status_code': httpStatus }),
    });
    if (outcome !== 'delivered') {
      span.fail(outcome);
    }
    return attempted;
  });
}

async function attemptOrReport(
  sender: Sender,
  row: ClaimedDelivery,
  receiving: ReceiverContext,
): Promise<AttemptResult> {
  const at = now();
  const startedMs = performance.now();
  try {
    return await sendAttempt(sender, row, receiving, { at, startedMs });
  } catch (error) {
    if (isOutage(error)) {
      throw error;
    }
    logger.error('webhook cannot be sent: an error of this service', { ...getLogFields(row), error });
    return buildInternalErrorAttempt(row, at, startedMs);
  }
}

/** Returns the fields that log lines of a delivery share. */
export function getLogFields({ _id, requestId }: Pick<Delivery, '_id' | 'requestId'>) {
  return { deliveryId: _id, ...(requestId !== undefined && { requestId }) };
}

/**
 * Builds the attempt for an error in the stored row or in this service, which is not the receiver's
 * fault. The row is retried and finally becomes `dead`, so that an operator sees it. Other rows do
 * not wait for it.
 */
function buildInternalErrorAttempt(row: ClaimedDelivery, at: Date, startedMs: number): AttemptResult {
  const attempt = buildAttempt(row, internalErrorVerdict, { at, startedMs, answer: null });
  try {
    return { verdict: internalErrorVerdict, attempt, next: decideNextState(row, internalErrorVerdict, null) };
  } catch {
    // The schedule fields of the row are unreadable too.
    return { verdict: internalErrorVerdict, attempt, next: decideRetry(row, null) };
  }
}

/** This outcome does not count against the receiver. */
const internalErrorVerdict: Verdict = {
  outcome: 'unreached',
  httpStatus: null,
  ack: null,
  error: 'an internal error of this service; its operator can see it',
};

function buildAttempt(
  row: ClaimedDelivery,
  { httpStatus, ack, error }: Verdict,
  { at, startedMs, answer }: { at: Date; startedMs: number; answer: string | null },
): DeliveryAttempt {
  const durationMs = Math.round(performance.now() - startedMs);
  return { n: row.attemptCount + 1, at, durationMs, httpStatus, ack, answer, error };
}

async function sendAttempt(
  sender: Sender,
  row: ClaimedDelivery,
  { account, requireAck }: ReceiverContext,
  { at, startedMs }: { at: Date; startedMs: number },
): Promise<AttemptResult> {
  const traceparent = getTraceparent();
  const keys = await findPresentKeys(row, account);
  const headers = { ...buildDeliveryHeaders(row, keys), ...(traceparent !== undefined && { traceparent }) };
  const result = keys.length === 0 ? null : await sender.send({ url: row.url, headers, body: row.body });
  const verdict = result === null ? removedVerdict : judgeResponse(result, requireAck);
  const made: DeliveryAttempt = {
    ...buildAttempt(row, verdict, {
      at,
      startedMs,
      answer: result?.kind === 'answered' ? decodeResponseStart(result.answer) : null,
    }),
    ...(result !== null && sentKinds.has(result.kind) && { sent: selectKeptHeaders(headers) }),
  };
  const next = decideNextState(row, verdict, result?.kind === 'answered' ? result.retryAfterMs : null);
  countAttempt(verdict.outcome);
  if (row.attemptCount === 0 && result !== null) {
    observeFirstAttempt({}, Math.max(0, nowMs() - row.createdAt.getTime()) / 1_000);
  }
  // A dead delivery is logged as an error, because an operator can replay it.
  logger.log(next.state === 'dead' && row.event !== 'ping' ? 'error' : 'info', 'webhook attempt', {
    ...getLogFields(row),
    receiverId: row.receiverId,
    event: row.event,
    n: made.n,
    outcome: verdict.outcome,
    state: next.state,
    httpStatus: made.httpStatus,
    durationMs: made.durationMs,
    error: made.error,
  });
  return { verdict, attempt: made, next };
}

/** Results after which the receiver may have seen the request. */
const sentKinds: ReadonlySet<SendResult['kind']> = new Set(['answered', 'timeout', 'failed']);

/** Verdict for a row whose endpoint was removed. Nothing was sent. */
const removedVerdict: Verdict = {
  outcome: 'removed',
  httpStatus: null,
  ack: null,
  error: 'the endpoint was removed',
};

/** A cached account may lack a recent endpoint, so the database decides. */
async function findPresentKeys(row: ClaimedDelivery, account: EndpointOwner): Promise<readonly KeyObject[]> {
  const keys = getDeliveryKeys(row, account);
  if (keys.length > 0) {
    return keys;
  }
  const stored = await AccountModel.findById(row.accountId).lean<Account>();
  return stored ? getDeliveryKeys(row, stored) : [];
}

/** Builds the update of a row after an attempt. The write is conditional: see `createRecorder`. */
export function buildAttemptUpdate({ attempt, next, verdict }: AttemptResult): UpdateFilter<Delivery> {
  if (verdict.outcome === 'unsent' && next.state === 'due') {
    // The receiver never saw the request, so the attempt does not count in the schedule.
    return { $set: { leaseToken: null, ...next } };
  }
  return {
    $set: { leaseToken: null, ...next },
    $inc: { attemptCount: 1, scheduleStep: 1 },
    $push: { attempts: { $each: [attempt], $slice: -webhookLimits.attemptsKept } },
  };
}

function decideNextState(row: ClaimedDelivery, verdict: Verdict, retryAfterMs: number | null): NextState {
  const settled = { nextAttemptAt: null, settledAt: now(), expireAt: null };
  switch (verdict.outcome) {
    case 'delivered':
      return {
        ...settled,
        state: 'delivered',
        expireAt: new Date(nowMs() + webhookLimits.deliveredKeptMs),
      };
    case 'removed':
      return {
        ...settled,
        state: 'dropped',
        expireAt: new Date(nowMs() + webhookLimits.deliveredKeptMs),
      };
    case 'blocked':
    case 'gone':
      return { ...settled, state: 'held' };
    case 'failed':
    case 'timeout':
    case 'unreached':
      return decideRetry(row, computeRetryTime(row, retryAfterMs));
    case 'unsent': {
      const isTooOld = nowMs() - row.scheduleStartedAt.getTime() > scheduleAgeMaxMs;
      return decideRetry(row, isTooOld ? null : nowMs() + webhookLimits.unsentRetryMs);
    }
  }
}

/** @param atMs Time of the next attempt. Null if no attempt follows. */
function decideRetry(row: ClaimedDelivery, atMs: number | null): NextState {
  return atMs === null || row.event === 'ping'
    ? { state: 'dead', nextAttemptAt: null, settledAt: now(), expireAt: null }
    : { state: 'due', nextAttemptAt: new Date(atMs), settledAt: null, expireAt: null };
}

function computeRetryTime(row: ClaimedDelivery, retryAfterMs: number | null): number | null {
  return computeNextAttemptMs({
    attemptsMade: row.scheduleStep + 1,
    startedAtMs: row.scheduleStartedAt.getTime(),
    nowMs: nowMs(),
    retryAfterMs,
  });
}

/**
 * Returns the start of a response body as text. A character that is cut off at the end is omitted.
 */
function decodeResponseStart(answer: Buffer): string {
  return answer
    .subarray(0, webhookLimits.answerKeptBytes)
    .toString('utf8')
    .replace(/\uFFFD$/, '');
}
