/**
 * The MongoDB alarm. Processes cannot coordinate through MongoDB while it is down, so Redis stores
 * which process has sent the alarm. Without Redis, each process sends the alarm itself.
 */
import { env } from '../../config/env.js';
import { isMongodbMarkedUnreachable, markMongodbUnreachable } from '../alarms/active-alarms.js';
import { pingMongo } from '../database/mongo.js';
import { redis } from '../redis/connection.js';
import { withLease } from '../redis/lease.js';
import { nowMs } from '../shared/clock.js';
import { logger } from '../shared/logger.js';
import { formatAlarmEnd, formatAlarm, type SendAlarmText } from './send-alarm.js';

const leaseMs = 30_000;
/**
 * Key of the start of an outage, kept until its end is sent. It expires in case the end is never
 * sent.
 */
const key = `${env.QUEUE_PREFIX}:alarms:mongodb-down`;
const keptMs = 7 * 86_400_000;
/** Key of the start of the last outage whose end was sent. */
const overKey = `${key}:over`;
/** Key of the start of an outage whose message the receiver did not accept. */
const missedKey = `${key}:missed`;

const name = 'TopupMongodbDown';
const description =
  'MongoDB does not respond to a follow-up process. If it responds to no process, calls are refused (503/03)';

const beginText = formatAlarm({ id: name, name, severity: 'page', message: description });

export interface MongodbWatch {
  /**
   * True if MongoDB responds. When MongoDB goes down, and when it is back, one message is sent for
   * all processes. A refused message is sent again every half minute.
   */
  answers(): Promise<boolean>;
}

/**
 * Watches MongoDB.
 * @param times.forMs How long MongoDB must be down before the alarm is sent.
 * @param times.repeatIntervalMs Pause before a message is sent again.
 * @param times.seenMs Lifetime of one check.
 */
export function watchMongodb(
  send: SendAlarmText,
  { forMs, repeatIntervalMs, seenMs }: { forMs: number; repeatIntervalMs: number; seenMs: number },
): MongodbWatch {
  let awaySince: number | null = null;
  let isReported = false;
  /**
   * The outage that this process tried to report alone, because Redis was down too. `untold` is the
   * message that was not accepted.
   */
  let alone: { since: number; untold: string | null } | null = null;
  /**
   * Start of the outage that this process reported for all processes. If Redis loses its data, no
   * other process knows this.
   */
  let reportedSince: number | null = null;
  let triedAtMs = 0;

  const isTime = () => nowMs() - triedAtMs >= repeatIntervalMs;
  const sendNow = (text: string) => {
    triedAtMs = nowMs();
    return send(text);
  };

  async function reportBegin(since: number): Promise<boolean> {
    const found = await notifyBeginOnce(since, sendNow);
    if (found !== undefined) {
      reportedSince = found === 'told' ? since : reportedSince;
      const isTold = found === 'told' || found === 'known';
      if (isTold && alone !== null && alone.untold !== null) {
        alone = null;
      }
      return isTold;
    }
    const taken = (await sendNow(beginText)) === null;
    alone = { since, untold: taken ? null : beginText };
    return taken;
  }

  async function reportEnd(): Promise<void> {
    if (alone !== null) {
      const taken = (await sendNow(formatAlarmEnd(name, new Date(alone.since), alone.untold))) === null;
      alone = taken ? null : alone;
    }
    if (reportedSince !== null) {
      await restoreSince(reportedSince);
    }
    const missed = await readSince(missedKey);
    if (missed !== null) {
      await notifyEnd({ outageKey: missedKey, since: missed, untold: beginText }, sendNow);
    }
    const since = await readSince(key);
    if (since !== null) {
      await notifyEnd({ outageKey: key, since, untold: null }, sendNow);
    } else if (redis().status === 'ready') {
      reportedSince = null;
    }
  }

  return {
    async answers() {
      if (await isMongoReachable()) {
        awaySince = null;
        isReported = false;
        if (isTime()) {
          await reportEnd();
        }
        return true;
      }
      awaySince ??= nowMs();
      await markMongodbUnreachable(seenMs);
      if (!isReported && nowMs() - awaySince >= forMs && isTime()) {
        isReported = await reportBegin(awaySince);
      }
      return false;
    },
  };
}

/**
 * Sends the start of an outage once for all processes.
 * @returns `known` if another process has sent it. Null if another process is sending it. Undefined
 * if Redis does not respond.
 */
function notifyBeginOnce(
  since: number,
  send: SendAlarmText,
): Promise<'known' | 'told' | 'refused' | null | undefined> {
  return runUnderLease(async () => {
    if ((await redis().get(key)) !== null) {
      return 'known';
    }
    if ((await send(beginText)) !== null) {
      await redis().set(missedKey, String(since), 'PX', keptMs, 'NX');
      return 'refused';
    }
    await redis().set(key, String(since), 'PX', keptMs);
    await redis().del(missedKey);
    return 'told';
  });
}

interface EndedOutage {
  /** Key that holds the start of the outage until the end is sent. */
  outageKey: string;
  since: string;
  /** The message that was not accepted during the outage. Null if it was accepted. */
  untold: string | null;
}

async function notifyEnd({ outageKey, since, untold }: EndedOutage, send: SendAlarmText): Promise<void> {
  await runUnderLease(async () => {
    if (
      !(await isMongodbMarkedUnreachable()) &&
      (await redis().get(outageKey)) === since &&
      (await send(formatAlarmEnd(name, new Date(Number(since)), untold))) === null
    ) {
      if (untold === null) {
        await redis().set(overKey, since, 'PX', keptMs);
      }
      await redis().del(outageKey);
    }
  });
}

function isMongoReachable(): Promise<boolean> {
  return pingMongo().then(
    () => true,
    () => false,
  );
}

/**
 * Reads the start of an outage whose end has not been sent yet. Also null if Redis does not
 * respond.
 */
function readSince(wanted: string): Promise<string | null> {
  return redis()
    .get(wanted)
    .catch(() => null);
}

/**
 * Stores the start of the outage again. If Redis has lost its data, only this process knows that
 * the end must be sent.
 */
async function restoreSince(since: number): Promise<void> {
  try {
    if ((await redis().get(overKey)) !== String(since)) {
      await redis().set(key, String(since), 'PX', keptMs, 'NX');
    }
  } catch {
    // The next check retries.
  }
}

/**
 * Runs work under the lease.
 * @returns The result of the work. Null if another process holds the lease. Undefined if Redis does
 * not respond.
 */
async function runUnderLease<T>(work: () => Promise<T>): Promise<T | null | undefined> {
  if (redis().status !== 'ready') {
    return undefined;
  }
  try {
    return await withLease('alarm-mongodb', leaseMs, work);
  } catch (error) {
    logger.warn('lease of the MongoDB alarm could not be taken', { error });
    return undefined;
  }
}
