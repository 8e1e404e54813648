import Joi from 'joi';
import { standingAlarms } from '../../alarms/alarm.model.js';
import { timestamp } from '../../api/fields.js';
import { listFailingJobs } from '../../doctor/attention.js';
import { diagnose } from '../../doctor/diagnose.js';
import { now } from '../../shared/clock.js';
import { defineConsoleOperation, shape } from '../api/console-operation.js';

/** More of them change nothing about what to do. */
const shownMax = 100;

export const getSystem = defineConsoleOperation({
  id: 'getSystem',
  method: 'get',
  path: '/system',
  action: 'system.look',
  summary:
    'The checks of `topup doctor` as they are now, alarms that stand, and jobs that fail again and again',
  data: shape({
    at: timestamp,
    checks: Joi.array().items(
      shape({
        name: Joi.string(),
        status: Joi.string().valid('ok', 'warn', 'fail'),
        detail: Joi.string().allow(''),
        advice: Joi.string().allow(null),
      }),
    ),
    alarms: Joi.array()
      .items(shape({ id: Joi.string(), since: timestamp, is_told: Joi.boolean() }))
      .description('The oldest first. Without ALERT_WEBHOOK_URL nobody keeps them, and there are none.'),
    failing_jobs: Joi.array()
      .items(
        shape({
          ...{ id: Joi.string(), queue: Joi.string(), rounds: Joi.number(), reason: Joi.string().allow('') },
          ...{ first_at: timestamp, last_at: timestamp },
        }),
      )
      .description('The last to have come to that first.'),
  }),
  async handle() {
    const [checks, alarms, failing] = await Promise.all([
      diagnose(),
      standingAlarms.find().limit(shownMax).toArray(),
      listFailingJobs(shownMax),
    ]);
    return {
      at: now().toISOString(),
      checks,
      alarms: alarms
        .sort((a, b) => a.since.getTime() - b.since.getTime())
        .map(({ _id, since, told }) => ({ id: _id, since: since.toISOString(), is_told: told })),
      failing_jobs: failing.map(({ _id, queue, rounds, reason, firstAt, lastAt }) => ({
        ...{ id: _id, queue, rounds, reason },
        ...{ first_at: firstAt.toISOString(), last_at: lastAt.toISOString() },
      })),
    };
  },
});
