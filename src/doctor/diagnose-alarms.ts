import { listActiveAlarms } from '../alarms/active-alarms.js';
import { fail, ok, warn, type Diagnosis } from './diagnosis.js';

const shownMax = 100;

/**
 * Reports the active alarms, and whether their receiver accepts them. Reports nothing if no alarm
 * is active or no process sends alarms. The latter happens without ALERT_WEBHOOK_URL, or without a
 * follow-up process, which has its own check.
 */
export async function diagnoseAlarms(): Promise<Diagnosis[]> {
  const { alarms: standing, isTelling } = await listActiveAlarms(shownMax);
  if (isTelling === false) {
    return [];
  }
  const refused = standing.flatMap(({ _id, refusal }) => (refusal ? [{ _id, refusal }] : []));
  if (refused.length > 0) {
    const names = refused.map(({ _id, refusal }) => `${_id} (${refusal})`).join(', ');
    return [
      fail(
        'alarms',
        `could not be delivered: ${names}`,
        'Check that the receiver works, or correct ALERT_WEBHOOK_URL of the follow-up processes. topup alarm test sends a test. Delivery is retried every half minute.',
      ),
    ];
  }
  // An alarm is sent only after its condition has lasted for `forMs`.
  const reported = standing.filter((each) => each.told);
  if (reported.length === 0) {
    return standing.length === 0 ? [] : [ok('alarms', 'none has lasted long enough to be sent yet')];
  }
  const detail = reported.map(({ _id, severity }) => `${_id} (${severity ?? 'sent'})`).join(', ');
  const advice =
    'docs/reference/alarms.md says what each means and what to do. topup alarm list shows since when.';
  return [
    reported.some(({ severity }) => severity === 'page')
      ? fail('alarms', detail, advice)
      : warn('alarms', detail, advice),
  ];
}
