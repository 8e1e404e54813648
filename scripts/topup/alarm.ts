import type { Command } from 'commander';
import { ConflictError } from '../../src/shared/errors.js';
import { asWritten } from '../../src/shared/say.js';
import { defineCommand, defineGroup } from './define-command.js';
import { table, time } from './format.js';
import { limitOption } from './options.js';

/** `topup alarm …`: alarms without Prometheus. */
export function registerAlarm(program: Command): void {
  const group = defineGroup(program, 'alarm', 'Alarms that go to ALERT_WEBHOOK_URL');
  registerList(group);
  registerTest(group);
}

function registerList(group: Command): void {
  defineCommand<{ limit: number }>(group, {
    usage: 'list',
    action: 'system.look',
    summary: 'List the alarms that stand, the oldest first, and whether somebody was told',
    details:
      'Follow-up processes keep them where ALERT_WEBHOOK_URL is set. One that is not told yet may be over before it has stood for as long as it must. What each means: docs/reference/alarms.md.',
    examples: ['alarm list', 'alarm list --json'],
    options: [limitOption()],
    async run({ options }) {
      const { listStandingAlarms } = await import('../../src/alarms/standing-alarms.js');
      const { alarms, isTelling } = await listStandingAlarms(options.limit);
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
      const listed = table(['alarm', 'since', 'told', 'refused'], rows);
      if (isTelling === false) {
        const notice = 'Nobody looks: no follow-up process with ALERT_WEBHOOK_URL is heard.';
        const left = rows.length === 0 ? '' : ` When one last looked, these stood:\n${listed}`;
        return { data, text: `${notice}${left}` };
      }
      if (isTelling === null) {
        const notice =
          'It is not known whether anybody looks: Redis does not answer, or a process of an earlier release does not say it.';
        const left =
          rows.length === 0 ? ' No alarm is known to stand.' : ` As far as is known, these stand:\n${listed}`;
        return { data, text: `${notice}${left}` };
      }
      return { data, text: rows.length === 0 ? 'No alarm stands.' : listed };
    },
  });
}

function registerTest(group: Command): void {
  defineCommand(group, {
    usage: 'test',
    action: 'alarm.test',
    summary: 'Send a test message to ALERT_WEBHOOK_URL',
    details:
      'As an alarm goes out: through WEBHOOK_PROXY_URL where that is set. Run it with the settings of the follow-up processes. Exit code 1 if the receiver did not take it.',
    examples: ['alarm test'],
    toleratesOutage: true,
    async run() {
      const [{ tryAlertUrl }, { env }] = await Promise.all([
        import('../../src/signals/send-alarm.js'),
        import('../../config/env.js'),
      ]);
      if (env.ALERT_WEBHOOK_URL === null) {
        throw new ConflictError(
          asWritten(
            'ALERT_WEBHOOK_URL is not set here: set it as for the follow-up processes, which tell alarms.',
          ),
        );
      }
      const refusal = await tryAlertUrl(env.ALERT_WEBHOOK_URL);
      return {
        data: { taken: refusal === null, refusal },
        text:
          refusal === null ? 'The receiver took the message.' : `The receiver did not take it: ${refusal}.`,
        failed: refusal !== null,
      };
    },
  });
}
