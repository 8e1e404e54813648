import { isAnyProcessNotifying } from './is-anybody-telling.js';
import { isStanding, standingAlarms, type StandingAlarm } from './alarm.model.js';

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
