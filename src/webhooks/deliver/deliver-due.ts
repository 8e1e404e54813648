/**
 * Serves receivers by turns of about a second. A receiver with more rows goes to the end of the
 * queue. Slow requests continue outside the turn, so a hanging receiver does not delay others.
 */
import { env } from '../../../config/env.js';
import { limits } from '../../../config/limits.js';
import { nowMs } from '../../shared/clock.js';
import { logger } from '../../shared/logger.js';
import { enqueueTurns } from './delivery-jobs.js';
import { attemptDelivery, getLogFields, type AttemptResult } from './attempt-delivery.js';
import { claimDeliveries, releaseDeliveries, type ClaimedDelivery } from './claim-deliveries.js';
import {
  createInFlightCounter,
  type InFlightCounter,
  adjustPace,
  getStartingPace,
  type PaceFeedback,
} from './in-flight-limits.js';
import { getImmediateDueTime } from '../new-delivery.js';
import type { Verdict } from './judge-response.js';
import { countInOtherProcesses, openTurn, type Turn } from './open-turn.js';
import {
  disableReceiver,
  hasFailures,
  recordFailure,
  markSlow,
  recordSuccess,
} from '../receivers/receiver-health.js';
import { createRecorder, type Recorder } from './record-attempts.js';
import { createSender, type Sender } from './send-request.js';
import { urlGuard } from './url-guard.js';
import { webhookLimits } from '../webhook-limits.js';

export interface Deliverer {
  /** Serves one turn of a receiver. Safe to run twice or concurrently, because rows are leased. */
  deliverDue(receiverId: string): Promise<void>;
  /** Resolves when no request is in flight and every result is written. */
  drain(): Promise<void>;
}

/** Shared by all turns of a process. */
interface DelivererResources {
  readonly sender: Sender;
  readonly record: Recorder;
  readonly load: InFlightCounter;
  readonly underWay: Set<Promise<void>>;
}

/** The state of a running turn. */
interface RunningTurn {
  readonly means: DelivererResources;
  readonly turn: Turn;
  waiting: ClaimedDelivery[];
  /** True if no other rows are due. */
  drained: boolean;
  active: number;
  /** Limit of concurrent requests to the receiver, as this turn last read it. */
  pace: number;
  /**
   * True if more rows wait than the starting pace covers. Only then is the pace read from Redis.
   */
  isLong: boolean;
  /** True if the requests in flight reached the pace when the last request started. */
  isFull: boolean;
  /** Successful, quick responses at full pace since the pace was last reported. */
  good: number;
  /**
   * When the pace was last reduced. Failures of requests that began earlier do not reduce it again.
   */
  slowedAtMs: number;
  /** Requests in flight in other processes. */
  elsewhere: number;
  /** True while the service's own proxy is unavailable. Claimed rows wait. */
  isCutOff: boolean;
  /** URL of the last request. */
  url: string;
  /** Starts after the first claim, so that a slow database does not use up the turn. */
  timer: NodeJS.Timeout | undefined;
  /** True if the turn's time is up or the receiver has been disabled. */
  over: boolean;
  /** Resumes the turn when a request ends. */
  wake: () => void;
}

/** Opens the deliverer of a `webhooks` process. Closing it waits for requests in flight. */
export function openDeliverer(): {
  run(data: { receiverId: string }): Promise<void>;
  close(): Promise<void>;
} {
  const sender = createSender(urlGuard, { proxyUrl: env.WEBHOOK_PROXY_URL });
  const deliverer = createDeliverer(sender);
  return {
    run: ({ receiverId }) => deliverer.deliverDue(receiverId),
    async close() {
      await deliverer.drain();
      await sender.close();
    },
  };
}

export function createDeliverer(sender: Sender): Deliverer {
  const means = {
    sender,
    record: createRecorder(),
    load: createInFlightCounter(),
    underWay: new Set<Promise<void>>(),
  };
  return {
    deliverDue: async (receiverId) => {
      const turn = await openTurn(receiverId, () => means.load.ofReceiver(receiverId));
      if (turn) {
        await takeTurn(means, turn);
      }
    },
    drain: async () => {
      while (means.underWay.size > 0) {
        await Promise.all(means.underWay);
      }
    },
  };
}

async function takeTurn(means: DelivererResources, turn: Turn): Promise<void> {
  const running: RunningTurn = {
    means,
    turn,
    waiting: [],
    drained: false,
    active: 0,
    pace: getStartingPace(turn.inFlightMost),
    isLong: false,
    isFull: false,
    good: 0,
    slowedAtMs: -Infinity,
    elsewhere: turn.elsewhere,
    isCutOff: false,
    url: '',
    timer: undefined,
    over: false,
    wake: () => undefined,
  };
  try {
    await runTurn(running);
  } finally {
    clearTimeout(running.timer);
  }
  if (running.good > 0 && running.active === 0) {
    await readjustPace(running);
  }
  const more = running.over && !running.isCutOff && (running.waiting.length > 0 || !running.drained);
  running.over = true;
  await releaseDeliveries(
    running.waiting,
    running.isCutOff ? new Date(nowMs() + webhookLimits.unsentRetryMs) : getImmediateDueTime(),
  );
  if (running.active > 0) {
    // Slow requests continue outside the turn. Each of them requests the next turn when it ends.
    await markSlow({ receiverId: turn.receiverId, account: turn.account, url: running.url });
  } else if (more) {
    await enqueueTurns([turn.receiverId]);
  }
}

async function runTurn(running: RunningTurn): Promise<void> {
  const { means, turn } = running;
  while (!running.over) {
    const mayClaim = running.waiting.length === 0 && !running.drained;
    if (mayClaim && running.elsewhere > 0) {
      // Requests in other processes may have ended.
      running.elsewhere = await countInOtherProcesses(turn.receiverId, () =>
        means.load.ofReceiver(turn.receiverId),
      );
    }
    const room = getFreeSlots(running);
    if (mayClaim && room > 0) {
      await claimMore(running, room);
      continue;
    }
    for (const row of running.waiting.splice(0, Math.max(0, room))) {
      startAttempt(running, row);
    }
    running.isFull = means.load.ofReceiver(turn.receiverId) >= running.pace;
    if (running.active === 0) {
      // Either nothing is left to send, or all slots are in use. The sweep finds the remaining
      // rows.
      return;
    }
    await new Promise<void>((resolve) => {
      running.wake = resolve;
    });
  }
}

function getFreeSlots({ means: { load }, turn, pace, elsewhere }: RunningTurn): number {
  return load.roomFor({
    receiverId: turn.receiverId,
    accountId: turn.account._id,
    pace: turn.probing ? 1 : pace - elsewhere,
  });
}

function startAttempt(running: RunningTurn, row: ClaimedDelivery): void {
  const { means, turn } = running;
  running.active += 1;
  running.url = row.url;
  means.load.change(turn.receiverId, turn.account._id, 1);
  const ended = runAttempt(running, row)
    .catch((error: unknown) => {
      // The lease expires, and the row is sent again.
      logger.error('webhook attempt aborted', { ...getLogFields(row), error });
    })
    .finally(() => means.underWay.delete(ended));
  means.underWay.add(ended);
}

async function runAttempt(running: RunningTurn, row: ClaimedDelivery): Promise<void> {
  const { means, turn } = running;
  let written: Promise<void> | undefined;
  let outlived = false;
  const startedMs = performance.now();
  try {
    const attempted = await attemptDelivery(means.sender, row, turn);
    written = means.record(row, attempted);
    if (attempted.verdict.outcome === 'unsent') {
      running.isCutOff = true;
      endTurn(running);
    }
    await adaptPace(running, attempted, startedMs);
    if (await noteHealth(turn, row, attempted)) {
      endTurn(running);
    }
  } finally {
    outlived = running.over;
    running.active -= 1;
    means.load.change(turn.receiverId, turn.account._id, -1);
    running.wake();
  }
  await written;
  if (outlived && !running.isCutOff) {
    await enqueueTurns([turn.receiverId]);
  }
}

function endTurn(running: RunningTurn): void {
  running.over = true;
  running.wake();
}

async function claimMore(running: RunningTurn, room: number): Promise<void> {
  const { turn } = running;
  // A receiver with few free slots probably hangs. Rows beyond these slots would be claimed only to
  // wait.
  const isDoubtful =
    turn.probing ||
    running.elsewhere > 0 ||
    (running.active === 0 && room < getStartingPace(turn.inFlightMost));
  const most = isDoubtful ? room : Math.max(webhookLimits.claimBatch, running.pace);
  const [claim] = await Promise.all([
    claimDeliveries(turn.receiverId, most),
    running.isLong && readjustPace(running),
  ]);
  running.timer ??= setTimeout(() => endTurn(running), webhookLimits.turnMs);
  running.waiting = claim.rows;
  running.drained = claim.drained || turn.probing;
  if (!running.isLong && claim.rows.length > limits.inFlightStart) {
    running.isLong = true;
    await readjustPace(running);
  }
}

async function readjustPace(running: RunningTurn, news?: Exclude<PaceFeedback, object>): Promise<void> {
  const { turn, good } = running;
  if (turn.inFlightMost <= limits.inFlightStart) {
    return;
  }
  running.good = 0;
  running.pace = await adjustPace(turn.receiverId, turn.inFlightMost, news ?? { good });
}

/** A round of requests reduces the pace once, however many of them fail. */
async function adaptPace(
  running: RunningTurn,
  { verdict, attempt }: AttemptResult,
  startedMs: number,
): Promise<void> {
  const news = judgeOverload(verdict);
  if (news !== null) {
    if (startedMs > running.slowedAtMs) {
      running.slowedAtMs = performance.now();
      await readjustPace(running, news);
    }
    return;
  }
  const isGood = verdict.outcome === 'delivered' && attempt.durationMs <= webhookLimits.quickMs;
  running.good += isGood && running.isLong && running.isFull ? 1 : 0;
  const isLast = running.over && running.active === 1;
  if (running.good >= running.pace || (running.good > 0 && isLast)) {
    await readjustPace(running);
  }
}

/** Returns how an attempt shows that the receiver is overloaded. Null if it does not. */
function judgeOverload({ outcome, httpStatus }: Verdict): 'overloaded' | 'silent' | null {
  if (outcome === 'timeout') {
    return 'silent';
  }
  return outcome === 'failed' && (httpStatus === null || httpStatus === 429 || httpStatus >= 500)
    ? 'overloaded'
    : null;
}

/**
 * Updates the receiver's health.
 * @returns True if the receiver is disabled now.
 */
async function noteHealth(turn: Turn, row: ClaimedDelivery, { verdict }: AttemptResult): Promise<boolean> {
  const key = { receiverId: turn.receiverId, account: turn.account, url: row.url };
  switch (verdict.outcome) {
    case 'delivered':
      if (hasFailures(turn.receiver)) {
        turn.receiver = null;
        await recordSuccess(turn.receiverId);
      }
      return false;
    case 'failed':
    case 'timeout':
      return recordFailure(key, verdict.outcome === 'timeout');
    case 'gone':
      await disableReceiver(key, 'gone');
      return true;
    case 'blocked':
    case 'unreached':
    case 'unsent':
    case 'removed':
      // These outcomes may not be the receiver's fault.
      return false;
  }
}
