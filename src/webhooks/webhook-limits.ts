/** Every bound of outgoing webhooks and callbacks in one place; the schedule of retries is in retry-schedule.ts. */
import { env } from '../../config/env.js';

const hourMs = 3_600_000;

export const webhookLimits = {
  connectTimeoutMs: 5_000,
  /** From the first byte out to the last byte in, whatever the receiver does. */
  totalTimeoutMs: env.WEBHOOK_TIMEOUT_MS,
  answerReadBytes: 65_536,
  answerKeptBytes: 4_096,
  answerHeaderBytes: 16_384,

  /** An answer that takes longer gives its receiver no more room: so it is not pushed until it breaks. */
  quickMs: 500,
  /** A receiver that had nothing to do for so long begins anew. */
  paceKeptMs: 600_000,
  /** An account with many addresses must not take more than its share of a process, unless one of them has earned more. */
  inFlightPerAccount: 16,
  /** Bounds memory and sockets of a process. */
  inFlightPerProcess: 4_000,
  /** Of these, what all receivers have together beyond where each begins: their answers come in the same tick. */
  earnedPerProcess: 256,
  /** Receivers that a process serves at the same moment. */
  slots: 500,
  /** A turn serves its receiver this long, then goes to the end of the queue; a slower request goes on without it. */
  turnMs: 1_000,
  claimBatch: 32,
  /** Longer than a turn and an attempt together: nobody takes a row that is still under way. */
  leaseMs: env.WEBHOOK_TIMEOUT_MS + 5_000,
  /** A row whose predecessor is under way is looked at again after this. */
  deferMs: 1_000,
  /** While our own proxy does not serve, a row is looked at again after this. */
  unsentRetryMs: 10_000,

  breakerTimeouts: 3,
  breakerOpenMs: 30_000,
  breakerOpenMaxMs: 600_000,

  warnAfterMs: 24 * hourMs,
  disableAfterMs: 120 * hourMs,
  disableFailuresMin: 10,

  attemptsKept: 24,
  deliveredKeptMs: 90 * 24 * hourMs,
  /** Dead and held ones, which somebody may still ask for. */
  undeliveredKeptMs: 180 * 24 * hourMs,
  secretOverlapMs: 24 * hourMs,
} as const;
