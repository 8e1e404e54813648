import { env } from '../../config/env.js';

const hourMs = 3_600_000;

export const webhookLimits = {
  /** Limit from the first byte sent to the last byte received. */
  totalTimeoutMs: env.WEBHOOK_TIMEOUT_MS,
  answerReadBytes: 65_536,
  answerKeptBytes: 4_096,
  answerHeaderBytes: 16_384,

  /** Slower responses do not raise the pace, so that a receiver is not overloaded. */
  quickMs: 500,
  /** After this idle time, a receiver starts again at its starting pace. */
  paceKeptMs: 600_000,
  /**
   * Limit per account and process, so that many addresses do not take an unfair share. A receiver
   * with a higher pace raises this limit.
   */
  inFlightPerAccount: 16,
  /** Limits memory and sockets of a process. */
  inFlightPerProcess: 4_000,
  /**
   * Shared limit for requests above receivers' starting paces, because their responses can arrive
   * in the same tick.
   */
  earnedPerProcess: 256,
  /** Receivers that a process serves concurrently. */
  slots: 500,
  /**
   * Length of a turn in milliseconds. After that, the receiver goes to the end of the queue. Slow
   * requests continue.
   */
  turnMs: 1_000,
  claimBatch: 32,
  /** Longer than a turn and an attempt together, so that no worker takes a row in flight. */
  leaseMs: env.WEBHOOK_TIMEOUT_MS + 5_000,
  /** Delay of a row whose predecessor is in flight. */
  deferMs: 1_000,
  /** Delay of rows while the service's own proxy is unavailable. */
  unsentRetryMs: 10_000,

  breakerTimeouts: 3,
  breakerOpenMs: 30_000,
  breakerOpenMaxMs: 600_000,

  warnAfterMs: 24 * hourMs,
  disableAfterMs: 120 * hourMs,
  disableFailuresMin: 10,

  attemptsKept: 24,
  deliveredKeptMs: 90 * 24 * hourMs,
  /** Retention of dead and held rows, which can still be replayed. */
  undeliveredKeptMs: 180 * 24 * hourMs,
  secretOverlapMs: 24 * hourMs,
} as const;
