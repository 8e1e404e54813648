import { Option, type Command } from 'commander';
import { defineCommand, defineGroup } from './define-command.js';
import { facts, table, time } from './format.js';
import { reasonOption, secretFromStdin } from './options.js';
import { UsageError } from './usage-error.js';

/** `topup operator …`: who may log in to the console at /admin. */
export function registerOperator(program: Command): void {
  const group = defineGroup(program, 'operator', 'People who may log in to the console');
  registerCreate(group);
  registerList(group);
  registerPassword(group);
  registerRemove(group);
}

const passwordStdin = () =>
  new Option(
    '--password-stdin',
    'read the password from standard input (default: a new one is made and printed)',
  );

function registerCreate(group: Command): void {
  defineCommand<{ role: 'admin' | 'viewer'; passwordStdin?: boolean }>(group, {
    usage: 'create <username>',
    summary: 'Let a person into the console',
    details:
      'viewer sees everything; admin may also retry, remove and pause jobs. A password is never an argument.',
    examples: [
      'operator create dewi --role viewer',
      'operator create budi --role admin --password-stdin < password.txt',
    ],
    options: [
      new Option('--role <role>', 'what they may do').choices(['admin', 'viewer']).makeOptionMandatory(),
      passwordStdin(),
    ],
    async run({ arg, options, by }) {
      const username = arg('username');
      if (!/^[a-z0-9._-]{3,40}$/.test(username)) {
        throw new UsageError('A username has 3 to 40 characters of a-z, 0-9, dot, dash and underscore.');
      }
      const chosen = await choosePassword(options.passwordStdin);
      const { createOperator } = await import('../../src/operators/create-operator.js');
      await createOperator({ username, role: options.role, password: chosen.password }, by);
      return {
        data: { username, role: options.role, ...(chosen.made && { password: chosen.password }) },
        text: facts([
          ['username', username],
          ['role', options.role],
          ['password', chosen.made ? `${chosen.password}  (shown once)` : null],
        ]),
      };
    },
  });
}

function registerList(group: Command): void {
  defineCommand(group, {
    usage: 'list',
    summary: 'List operators',
    examples: ['operator list'],
    async run() {
      const { listOperators } = await import('../../src/operators/create-operator.js');
      const data = (await listOperators()).map(({ username, role, createdAt, passwordChangedAt }) => ({
        username,
        role,
        created_at: createdAt,
        password_changed_at: passwordChangedAt,
      }));
      const rows = data.map((each) => [
        each.username,
        each.role,
        time(each.created_at),
        time(each.password_changed_at),
      ]);
      return {
        data,
        text:
          rows.length === 0
            ? 'Nobody can log in yet: npm run topup -- operator create <username> --role admin'
            : table(['username', 'role', 'created', 'password since'], rows),
      };
    },
  });
}

function registerPassword(group: Command): void {
  defineCommand<{ passwordStdin?: boolean }>(group, {
    usage: 'password <username>',
    summary: 'Give an operator another password',
    details: 'Ends every session of theirs.',
    examples: ['operator password dewi', 'operator password dewi --password-stdin < password.txt'],
    options: [passwordStdin(), new Option('--reason <text>', 'why; kept in the audit log')],
    async run({ arg, options, by }) {
      const chosen = await choosePassword(options.passwordStdin);
      const { setOperatorPassword } = await import('../../src/operators/create-operator.js');
      const operator = await setOperatorPassword(arg('username'), chosen.password, by);
      return {
        data: { username: operator.username, ...(chosen.made && { password: chosen.password }) },
        text: facts([
          ['username', operator.username],
          ['password', chosen.made ? `${chosen.password}  (shown once)` : 'changed'],
        ]),
      };
    },
  });
}

function registerRemove(group: Command): void {
  defineCommand(group, {
    usage: 'remove <username>',
    summary: 'Take a person out of the console',
    details: 'Ends every session of theirs at once.',
    examples: ['operator remove dewi --reason "left the company"'],
    options: [reasonOption()],
    async run({ arg, by }) {
      const { removeOperator } = await import('../../src/operators/create-operator.js');
      await removeOperator(arg('username'), by);
      return { data: { username: arg('username'), removed: true }, text: `${arg('username')} is out.` };
    },
  });
}

async function choosePassword(fromStdin: boolean | undefined): Promise<{ password: string; made: boolean }> {
  if (fromStdin) {
    return { password: await secretFromStdin(), made: false };
  }
  const { newPassword } = await import('../../src/operators/password.js');
  return { password: newPassword(), made: true };
}
