import { describeProcesses } from '../redis/presence.js';

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
