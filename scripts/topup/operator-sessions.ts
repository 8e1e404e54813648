import { Option, type Command } from 'commander';
import { optionalReasonOption } from './options.js';
import { defineCommand } from './define-command.js';
import { listText, time, type Column } from './format.js';

/** `topup operator sessions` and `end-sessions`: lists and ends console sessions. */
export function registerSessions(group: Command): void {
  registerList(group);
  registerEnd(group);
}

function registerList(group: Command): void {
  defineCommand(group, {
    usage: 'sessions <username>',
    action: 'operator.look',
    summary: 'List the console sessions of an operator, newest first',
    examples: ['operator sessions dewi'],
    async run({ arg }) {
      const [{ requireOperator }, { listSessions }] = await Promise.all([
        import('../../src/operators/require-operator.js'),
        import('../../src/operators/sessions.js'),
      ]);
      const found = await listSessions(await requireOperator(arg('username')));
      const data = found.map(({ id, startedAt, address, browser }) => ({
        id,
        started_at: startedAt,
        address,
        browser,
      }));
      const columns: Column<(typeof data)[number]>[] = [
        'id',
        ['since', (each) => time(each.started_at)],
        'address',
        'browser',
      ];
      return { data, text: listText(data, { columns, empty: 'There is no session.' }) };
    },
  });
}

function registerEnd(group: Command): void {
  defineCommand<{ session?: string }>(group, {
    usage: 'end-sessions <username>',
    action: 'operator.end-sessions',
    summary: 'End all console sessions of an operator, or one',
    details: 'Takes effect with the next request. Without Redis you can end all sessions, but not one.',
    examples: ['operator end-sessions dewi', 'operator end-sessions dewi --session n2Zk0q1bX9aF'],
    options: [
      new Option('--session <id>', 'only this session, by the id that topup operator sessions shows'),
      optionalReasonOption(),
    ],
    async run({ arg, options, by }) {
      const [{ requireOperator }, { endAllSessions }, { endOneSession }] = await Promise.all([
        import('../../src/operators/require-operator.js'),
        import('../../src/operators/manage-operators.js'),
        import('../../src/operators/sessions.js'),
      ]);
      const operator = await requireOperator(arg('username'));
      const { username } = operator;
      if (options.session === undefined) {
        await endAllSessions(username, by);
        return { data: { username, ended: 'all' }, text: `Every session of ${username} has ended.` };
      }
      await endOneSession(operator, options.session, by);
      return { data: { username, ended: options.session }, text: `That session of ${username} has ended.` };
    },
  });
}
