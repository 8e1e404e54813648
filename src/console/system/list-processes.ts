import Joi from 'joi';
import { timestamp } from '../../api/fields.js';
import { describeProcesses } from '../../redis/presence.js';
import { DependencyError } from '../../shared/errors.js';
import { defineConsoleOperation, shape } from '../api/console-operation.js';

export const listProcesses = defineConsoleOperation({
  id: 'listProcesses',
  method: 'get',
  path: '/system/processes',
  action: 'system.look',
  summary: 'Every process that is heard, or stands still: what it does, of which release, since when',
  data: shape({
    processes: Joi.array().items(
      shape({
        id: Joi.string(),
        type: Joi.string(),
        version: Joi.string().allow(null).description('Null: of a release that did not say.'),
        started_at: timestamp.allow(null),
        memory_bytes: Joi.number().allow(null),
        last_heard_at: timestamp,
        is_silent: Joi.boolean().description('It keeps its connections and says nothing: it stands still.'),
      }),
    ),
    releases: Joi.array()
      .items(Joi.string().allow(null))
      .description('More than one: a rollout goes on, or is stuck.'),
  }),
  async handle() {
    const found = await describeProcesses().catch((error: unknown) => {
      throw new DependencyError(error);
    });
    if (!found) {
      throw new DependencyError(new Error('Redis takes no writes: nobody knows which processes live'));
    }
    return {
      processes: found.map((each) => ({
        id: each.id,
        type: each.type,
        version: each.version,
        is_silent: each.isSilent,
        started_at: each.startedAt?.toISOString() ?? null,
        memory_bytes: each.memoryBytes,
        last_heard_at: each.lastHeardAt.toISOString(),
      })),
      releases: [...new Set(found.filter(({ isSilent }) => !isSilent).map(({ version }) => version))],
    };
  },
});
