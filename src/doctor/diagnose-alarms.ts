import { listStandingAlarms } from '../alarms/standing-alarms.js';
import { fail, ok, warn, type Diagnosis } from './diagnosis.js';

const shownMax = 100;

/**
 * Reports the standing alarms, and whether their receiver accepts them. Reports nothing if no alarm
 * stands, or if no process sends alarms (no ALERT_WEBHOOK_URL, or no follow-up process, which has
 * its own check).
 */
export async function diagnoseAlarms(): Promise<Diagnosis[]> {
  const { alarms: standing, isTelling } = await listStandingAlarms(shownMax);
  if (isTelling === false) {
    return [];
  }
  const refused = standing.flatMap(({ _id, refusal }) => (refusal ? [{ _id, refusal }] : []));
  if (refused.length > 0) {
    const names = refused.map(({ _id, refusal }) => `${_id} (${refusal})`).join(', ');
    return [
      fail(
        'alarms',
        `nobody could be told of ${names}`,
        'See that the receiver lives, or correct ALERT_WEBHOOK_URL of the follow-up processes; topup alarm test tries it. It is tried again every half minute.',
      ),
    ];
  }
  // An alarm is sent only after its condition has lasted for `forMs`.
  const reported = standing.filter((each) => each.told);
  if (reported.length === 0) {
    return standing.length === 0 ? [] : [ok('alarms', 'none stands for long enough to be told yet')];
  }
  const detail = reported.map(({ _id, severity }) => `${_id} (${severity ?? 'told'})`).join(', ');
  const advice =
    'Look each up in docs/reference/alarms.md: what it means and what to do. topup alarm list says since when.';
  return [
    reported.some(({ severity }) => severity === 'page')
      ? fail('alarms', detail, advice)
      : warn('alarms', detail, advice),
  ];
}
