import type { Command } from 'commander';
import { ConflictError } from '../../src/shared/errors.js';
import { asWritten } from '../../src/shared/say.js';
import { defineCommand, defineGroup } from './define-command.js';
import { table, time } from './format.js';
import { limitOption } from './options.js';

/** `topup alarm …`: alarms without Prometheus. */
export function registerAlarm(program: Command): void {
  const group = defineGroup(program, 'alarm', 'Alarms that are sent to ALERT_WEBHOOK_URL');
  registerList(group);
  registerTest(group);
}

function registerList(group: Command): void {
  defineCommand<{ limit: number }>(group, {
    usage: 'list',
    action: 'system.look',
    summary: 'List active alarms, oldest first, and whether they were sent',
    details:
      'Follow-up processes with ALERT_WEBHOOK_URL track them. An alarm is sent only after its condition has lasted long enough, so one that is not sent yet may end before. docs/reference/alarms.md explains each alarm.',
    examples: ['alarm list', 'alarm list --json'],
    options: [limitOption()],
    async run({ options }) {
      const { listActiveAlarms } = await import('../../src/alarms/active-alarms.js');
      const { alarms, isTelling } = await listActiveAlarms(options.limit);
      const found = alarms.map(({ _id, since, told, refusal }) => ({
        id: _id,
        since,
        is_told: told,
        refusal: refusal ?? null,
      }));
      const data = { somebody_looks: isTelling, alarms: found };
      const rows = found.map((each) => [
        each.id,
        time(each.since),
        each.is_told ? 'yes' : 'not yet',
        each.refusal ?? '',
      ]);
      const listed = table(['alarm', 'since', 'sent', 'refused'], rows);
      if (isTelling === false) {
        const notice = 'Alarms are not evaluated: no follow-up process with ALERT_WEBHOOK_URL is running.';
        const left = rows.length === 0 ? '' : ` At the last evaluation these were active:\n${listed}`;
        return { data, text: `${notice}${left}` };
      }
      if (isTelling === null) {
        const notice =
          'It is unknown whether alarms are evaluated: Redis does not respond, or a process runs an earlier release.';
        const left =
          rows.length === 0 ? ' No active alarm is known.' : ` The last known active alarms:\n${listed}`;
        return { data, text: `${notice}${left}` };
      }
      return { data, text: rows.length === 0 ? 'No alarm is active.' : listed };
    },
  });
}

function registerTest(group: Command): void {
  defineCommand(group, {
    usage: 'test',
    action: 'alarm.test',
    summary: 'Send a test message to ALERT_WEBHOOK_URL',
    details:
      'It is sent like an alarm, through WEBHOOK_PROXY_URL if that is set. Run it with the settings of the follow-up processes. Exit code 1 if the receiver does not accept it.',
    examples: ['alarm test'],
    toleratesOutage: true,
    async run() {
      const [{ testAlertUrl }, { env }] = await Promise.all([
        import('../../src/signals/send-alarm.js'),
        import('../../config/env.js'),
      ]);
      if (env.ALERT_WEBHOOK_URL === null) {
        throw new ConflictError(
          asWritten(
            'ALERT_WEBHOOK_URL is not set here. Use the settings of the follow-up processes, which send alarms.',
          ),
        );
      }
      const refusal = await testAlertUrl(env.ALERT_WEBHOOK_URL);
      return {
        data: { taken: refusal === null, refusal },
        text:
          refusal === null
            ? 'The receiver accepted the message.'
            : `The receiver did not accept it: ${refusal}.`,
        failed: refusal !== null,
      };
    },
  });
}
