import { env } from '../../config/env.js';
import { redis } from '../redis/connection.js';
import { describeProcesses } from '../redis/presence.js';
import { isStanding, standingAlarms, type StandingAlarm } from './alarm.model.js';

/** While any process that tells alarms finds MongoDB away, for which others it may answer. */
const key = `${env.QUEUE_PREFIX}:alarms:mongodb-away`;

/** Without Redis nobody hears it. @param forMs How long one look counts. */
export async function markMongodbAway(forMs: number): Promise<void> {
  await redis()
    .set(key, '1', 'PX', forMs)
    .catch(() => undefined);
}

/** @throws Redis's own errors. */
export async function isMongodbMarkedAway(): Promise<boolean> {
  return (await redis().get(key)) !== null;
}

/**
 * Whether a process is heard that keeps and tells alarms: follow-up, with ALERT_WEBHOOK_URL. Null: nobody knows, as while Redis takes
 * no writes, or beside a process of a release that does not say it.
 */
export async function isAnyProcessNotifying(): Promise<boolean | null> {
  const heard = await describeProcesses().catch(() => null);
  if (!heard) {
    return null;
  }
  const said = heard.filter(({ isSilent }) => !isSilent).map(({ tellsAlarms }) => tellsAlarms);
  return said.includes(true) || (said.includes(null) ? null : false);
}

export interface StandingAlarms {
  /** The oldest first. Where nobody tells alarms any more, what stood then is all that is known, and nothing is being refused. */
  alarms: StandingAlarm[];
  /** As `isAnybodyTelling`. */
  isTelling: boolean | null;
}

/**
 * The alarms that stand, and whether anybody looks.
 * @param limit How many are read, by no order: there are never as many.
 */
export async function listStandingAlarms(limit: number): Promise<StandingAlarms> {
  const [standing, isTelling] = await Promise.all([
    standingAlarms.find(isStanding).limit(limit).toArray(),
    isAnyProcessNotifying(),
  ]);
  const alarms = standing
    .map((each) => (isTelling === false ? { ...each, refusal: null } : each))
    .sort((a, b) => a.since.getTime() - b.since.getTime());
  return { alarms, isTelling };
}
