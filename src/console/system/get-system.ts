import Joi from 'joi';
import { env, givenSettings } from '../../../config/env.js';
import { releaseVersion } from '../../../config/release.js';
import { listShownSettings } from '../../../config/shown-settings.js';
import { defineConsoleOperation, requiredObject } from '../api/console-operation.js';
import { listActiveAlarms } from '../../alarms/active-alarms.js';
import { timestamp, nameSchema } from '../../api/contract/fields.js';
import { listFailingJobs } from '../../doctor/attention.js';
import { diagnose } from '../../doctor/diagnose.js';
import { now } from '../../shared/clock.js';
import { staleWhileRevalidate } from '../../shared/memoize.js';

export const getServiceSettings = defineConsoleOperation({
  id: 'getServiceSettings',
  method: 'get',
  path: '/system/settings',
  action: 'settings.look',
  summary: 'The settings of the web process that responds, without secrets',
  data: requiredObject({
    release: Joi.string(),
    settings: Joi.array().items(
      nameSchema(
        'ServiceSetting',
        requiredObject({
          name: Joi.string(),
          shown: Joi.string()
            .valid('value', 'address', 'secret')
            .description('`secret`: only whether there is one. `address`: without user, password and query.'),
          is_read: Joi.boolean().description('False: only other processes read it.'),
          is_given: Joi.boolean().description('False: it is the default.'),
          is_set: Joi.boolean(),
          value: Joi.string().allow(null, ''),
        }),
      ),
    ),
  }),
  handle() {
    return Promise.resolve({
      release: releaseVersion,
      settings: listShownSettings(env, givenSettings).map(
        ({ name, shown, isRead, isGiven, isSet, value }) => ({
          name,
          shown,
          is_read: isRead,
          is_given: isGiven,
          is_set: isSet,
          value,
        }),
      ),
    });
  },
});

/** Maximum number of alarms and failing jobs shown. */
const shownMax = 100;
/**
 * Cache times of the checks. Each open page polls every few seconds, and a check can take seconds,
 * because `doctor` looks twice to detect stalled work.
 */
const cacheTimes = { ttlMs: 5_000, maxWaitMs: 200, maxStaleMs: 60_000 };

const getLastChecks = staleWhileRevalidate(cacheTimes, async () => ({
  at: now().toISOString(),
  checks: await diagnose(),
}));

export const getSystem = defineConsoleOperation({
  id: 'getSystem',
  method: 'get',
  path: '/system',
  action: 'system.look',
  summary: 'The current checks of `topup doctor`, active alarms, and jobs that fail repeatedly',
  data: requiredObject({
    checked: requiredObject({
      at: timestamp,
      checks: Joi.array().items(
        requiredObject({
          name: Joi.string(),
          status: Joi.string().valid('ok', 'warn', 'fail'),
          detail: Joi.string().allow(''),
          advice: Joi.string().allow(null),
        }),
      ),
    })
      .allow(null)
      .description('Null: there is no result of the last minute, and the checks are running.'),
    is_looking: Joi.boolean().description(
      'True: the checks are running, which takes a few seconds. Repeat the call in a second.',
    ),
    alarms: Joi.array()
      .items(
        requiredObject({
          id: Joi.string(),
          since: timestamp,
          is_told: Joi.boolean(),
          refusal: Joi.string().allow(null),
        }),
      )
      .description('Oldest first. Without ALERT_WEBHOOK_URL no process tracks alarms, and there are none.'),
    failing_jobs: Joi.array()
      .items(
        requiredObject({
          id: Joi.string(),
          queue: Joi.string(),
          rounds: Joi.number(),
          reason: Joi.string().allow(''),
          first_at: timestamp,
          last_at: timestamp,
        }),
      )
      .description('Those that were set aside last come first.'),
  }),
  async handle() {
    const [{ answer: checked, isUnderWay }, { alarms }, failing] = await Promise.all([
      getLastChecks(),
      listActiveAlarms(shownMax),
      listFailingJobs(shownMax),
    ]);
    return {
      checked,
      is_looking: isUnderWay,
      alarms: alarms.map(({ _id, since, told, refusal }) => ({
        id: _id,
        since: since.toISOString(),
        is_told: told,
        refusal: refusal ?? null,
      })),
      failing_jobs: failing.map(({ _id, queue, rounds, reason, firstAt, lastAt }) => ({
        id: _id,
        queue,
        rounds,
        reason,
        first_at: firstAt.toISOString(),
        last_at: lastAt.toISOString(),
      })),
    };
  },
});
