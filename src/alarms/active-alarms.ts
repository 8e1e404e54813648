import { env } from '../../config/env.js';
import { redis } from '../redis/connection.js';
import { describeProcesses } from '../redis/presence.js';
import { activeAlarmFilter, storedAlarms, type StoredAlarm } from './alarm.model.js';

/**
 * Set while a process that sends alarms cannot reach MongoDB. Other processes may still reach it.
 */
const key = `${env.QUEUE_PREFIX}:alarms:mongodb-away`;

/**
 * Marks MongoDB as unreachable from this process. Does nothing while Redis is unavailable.
 * @param forMs Lifetime of the mark.
 */
export async function markMongodbUnreachable(forMs: number): Promise<void> {
  await redis()
    .set(key, '1', 'PX', forMs)
    .catch(() => undefined);
}

/**
 * True if a process that sends alarms cannot reach MongoDB.
 * @throws Error if Redis is unavailable.
 */
export async function isMongodbMarkedUnreachable(): Promise<boolean> {
  return (await redis().get(key)) !== null;
}

/**
 * Returns whether a live process sends alarms, which is a follow-up process with ALERT_WEBHOOK_URL.
 * Null if unknown: either Redis refuses writes, or a process of an earlier release does not report
 * whether it does.
 */
export async function isAnyProcessNotifying(): Promise<boolean | null> {
  const processes = await describeProcesses().catch(() => null);
  if (!processes) {
    return null;
  }
  const notifyFlags = processes.filter(({ isSilent }) => !isSilent).map(({ tellsAlarms }) => tellsAlarms);
  return notifyFlags.includes(true) || (notifyFlags.includes(null) ? null : false);
}

export interface ActiveAlarms {
  /**
   * Oldest first. If no process sends alarms, these are the last known alarms, and `refusal` is
   * null.
   */
  alarms: StoredAlarm[];
  /** Result of `isAnyProcessNotifying`. */
  isTelling: boolean | null;
}

/**
 * Lists the active alarms, and whether a process sends them.
 * @param limit Maximum number read, in no particular order. The real number stays below it.
 */
export async function listActiveAlarms(limit: number): Promise<ActiveAlarms> {
  const [standing, isTelling] = await Promise.all([
    storedAlarms.find(activeAlarmFilter).limit(limit).toArray(),
    isAnyProcessNotifying(),
  ]);
  const alarms = standing
    .map((each) => (isTelling === false ? { ...each, refusal: null } : each))
    .sort((a, b) => a.since.getTime() - b.since.getTime());
  return { alarms, isTelling };
}
