import type { Command } from 'commander';
import { DependencyError } from '../../src/shared/errors.js';
import { defineCommand, defineGroup } from './define-command.js';
import { table, time } from './format.js';

/** `topup process …`: running processes, as they report themselves. */
export function registerProcess(program: Command): void {
  const group = defineGroup(program, 'process', 'Processes of the service');
  defineCommand(group, {
    usage: 'list',
    action: 'system.look',
    summary: 'List processes with their release, start and memory',
    details:
      'Each process sends a heartbeat through Redis every 5 s. A process that keeps its connections but sends none for 20 s is\nstalled. Several releases at once are normal during a rollout; topup doctor warns if this lasts.',
    examples: ['process list', 'process list --json'],
    async run() {
      const { describeProcesses } = await import('../../src/redis/presence.js');
      const found = await describeProcesses();
      if (!found) {
        throw new DependencyError(new Error('Redis accepts no writes, so the running processes are unknown'));
      }
      const data = found.map((each) => ({
        id: each.id,
        type: each.type,
        release: each.version,
        started_at: each.startedAt,
        memory_bytes: each.memoryBytes,
        last_heard_at: each.lastHeardAt,
        is_silent: each.isSilent,
      }));
      const rows = data.map((each) => [
        each.type,
        each.is_silent ? 'stalled' : 'running',
        each.release ?? 'an earlier one',
        each.memory_bytes === null ? '' : `${Math.round(each.memory_bytes / 1e6)} MB`,
        each.started_at ? time(each.started_at) : '',
        time(each.last_heard_at),
      ]);
      const heads = ['process', 'state', 'release', 'memory', 'started', 'last heartbeat'];
      return { data, text: rows.length === 0 ? 'No process is running.' : table(heads, rows, [3]) };
    },
  });
}
