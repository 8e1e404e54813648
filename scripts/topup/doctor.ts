import type { Command } from 'commander';
import { defineCommand } from './define-command.js';
import { colours, heading, status, table } from './format.js';

/** `topup doctor` */
export function registerDoctor(program: Command): void {
  defineCommand(program, {
    usage: 'doctor',
    summary: 'Check the whole system and say what to do',
    details:
      'Databases, indexes, clocks, configuration, queues and their workers, late work, and what waits for a person.\nChanges nothing. Exit code 1 if a check fails; warnings alone are 0. Run it with the same settings as the\nservice, so that it judges the same configuration.',
    examples: ['doctor', 'doctor --json'],
    toleratesOutage: true,
    async run() {
      const { diagnose } = await import('../../src/doctor/diagnose.js');
      const found = await diagnose();
      const failed = found.some((each) => each.status === 'fail');
      const rows = found.map((each) => [status(each.status), each.name, each.detail]);
      const todo = found.flatMap((each) =>
        each.advice === null ? [] : [`${status(each.status).padEnd(4)}  ${each.name}: ${each.advice}`],
      );
      return {
        data: { ok: !failed, checks: found },
        failed,
        text: [
          table(['', 'check', 'found'], rows),
          ...(todo.length > 0 ? [heading('What to do'), ...todo] : ['', colours.green('All is well.')]),
        ].join('\n'),
      };
    },
  });
}
