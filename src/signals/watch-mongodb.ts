/** Without MongoDB nobody can agree there on who tells that it is away: Redis keeps it, and without Redis each process tells. */
import { env } from '../../config/env.js';
import { isMongodbMarkedAway, markMongodbAway } from '../alarms/standing-alarms.js';
import { pingMongo } from '../database/mongo.js';
import { redis } from '../redis/connection.js';
import { withLease } from '../redis/lease.js';
import { nowMs } from '../shared/clock.js';
import { logger } from '../shared/logger.js';
import { formatAlarmEnd, formatAlarm, type SendAlarmText } from './send-alarm.js';

const leaseMs = 30_000;
/** Since when it was away, while its end is not told. Ends by itself with an outage that nobody ends. */
const key = `${env.QUEUE_PREFIX}:alarms:mongodb-down`;
const keptMs = 7 * 86_400_000;
/** The same of the outage whose end was told last. */
const overKey = `${key}:over`;
/** Since when it was away, where the receiver refused to hear of it. */
const missedKey = `${key}:missed`;

const name = 'TopupMongodbDown';
const says =
  'MongoDB does not answer a follow-up process; where it answers no process, calls are refused (503/03)';

const beginText = formatAlarm({ id: name, name, severity: 'page', says });

export interface MongodbWatch {
  /** Tells once for the fleet when it is away, and once when it is back; what was refused is tried again every half minute. */
  answers(): Promise<boolean>;
}

/** @param times How long it must be away, after how long what was refused is tried again, and how long one look of it counts. */
export function watchMongodb(
  tell: SendAlarmText,
  { forMs, againEveryMs, seenMs }: { forMs: number; againEveryMs: number; seenMs: number },
): MongodbWatch {
  let awaySince: number | null = null;
  let told = false;
  /** What this process has tried to tell alone, because Redis was away as well; `untold`: what nobody has taken. */
  let alone: { since: number; untold: string | null } | null = null;
  /** What it has told for the fleet: should Redis lose its data, nobody else knows. */
  let toldForFleet: number | null = null;
  let triedAtMs = 0;

  const isTime = () => nowMs() - triedAtMs >= againEveryMs;
  const tellNow = (text: string) => {
    triedAtMs = nowMs();
    return tell(text);
  };

  async function tellBegin(since: number): Promise<boolean> {
    const found = await notifyBeginOnce(since, tellNow);
    if (found !== undefined) {
      toldForFleet = found === 'told' ? since : toldForFleet;
      const isTold = found === 'told' || found === 'known';
      if (isTold && alone !== null && alone.untold !== null) {
        alone = null;
      }
      return isTold;
    }
    const taken = (await tellNow(beginText)) === null;
    alone = { since, untold: taken ? null : beginText };
    return taken;
  }

  async function tellEnd(): Promise<void> {
    if (alone !== null) {
      const taken = (await tellNow(formatAlarmEnd(name, new Date(alone.since), alone.untold))) === null;
      alone = taken ? null : alone;
    }
    if (toldForFleet !== null) {
      await restoreSince(toldForFleet);
    }
    const missed = await readSince(missedKey);
    if (missed !== null) {
      await notifyEnd({ held: missedKey, since: missed, untold: beginText }, tellNow);
    }
    const since = await readSince(key);
    if (since !== null) {
      await notifyEnd({ held: key, since, untold: null }, tellNow);
    } else if (redis().status === 'ready') {
      toldForFleet = null;
    }
  }

  return {
    async answers() {
      if (await mongoAnswers()) {
        awaySince = null;
        told = false;
        if (isTime()) {
          await tellEnd();
        }
        return true;
      }
      awaySince ??= nowMs();
      await markMongodbAway(seenMs);
      if (!told && nowMs() - awaySince >= forMs && isTime()) {
        told = await tellBegin(awaySince);
      }
      return false;
    },
  };
}

/** @returns `known`: another process has told; null: one is at it; undefined: Redis cannot say. */
function notifyBeginOnce(
  since: number,
  tell: SendAlarmText,
): Promise<'known' | 'told' | 'refused' | null | undefined> {
  return runUnderLease(async () => {
    if ((await redis().get(key)) !== null) {
      return 'known';
    }
    if ((await tell(beginText)) !== null) {
      await redis().set(missedKey, String(since), 'PX', keptMs, 'NX');
      return 'refused';
    }
    await redis().set(key, String(since), 'PX', keptMs);
    await redis().del(missedKey);
    return 'told';
  });
}

interface Over {
  /** The key that remembers it until it is told. */
  held: string;
  since: string;
  /** The message that nobody has taken while it was so; null: somebody has. */
  untold: string | null;
}

async function notifyEnd({ held, since, untold }: Over, tell: SendAlarmText): Promise<void> {
  await runUnderLease(async () => {
    if (
      !(await isMongodbMarkedAway()) &&
      (await redis().get(held)) === since &&
      (await tell(formatAlarmEnd(name, new Date(Number(since)), untold))) === null
    ) {
      if (untold === null) {
        await redis().set(overKey, since, 'PX', keptMs);
      }
      await redis().del(held);
    }
  });
}

function mongoAnswers(): Promise<boolean> {
  return pingMongo().then(
    () => true,
    () => false,
  );
}

/** Since when it was away, where its end is still to be told; null also where Redis cannot say. */
function readSince(wanted: string): Promise<string | null> {
  return redis()
    .get(wanted)
    .catch(() => null);
}

/** Redis may have lost its data since this was told: then this process alone knows that its end is to be told. */
async function restoreSince(since: number): Promise<void> {
  try {
    if ((await redis().get(overKey)) !== String(since)) {
      await redis().set(key, String(since), 'PX', keptMs, 'NX');
    }
  } catch {
    // In the next look.
  }
}

/** @returns what it comes to; null: another process is at it; undefined: Redis cannot say. */
async function runUnderLease<T>(work: () => Promise<T>): Promise<T | null | undefined> {
  if (redis().status !== 'ready') {
    return undefined;
  }
  try {
    return await withLease('alarm-mongodb', leaseMs, work);
  } catch (error) {
    logger.warn('who tells that MongoDB is away is not known', { error });
    return undefined;
  }
}
