import { Option, type Command } from 'commander';
import type { Operator } from '../../src/operators/operator.model.js';
import {
  isAllowed,
  operatorRoles,
  rights,
  type OperatorAction,
  type OperatorRole,
} from '../../src/operators/rights.js';
import { defineCommand, defineGroup } from './define-command.js';
import { facts, table, time } from './format.js';
import { optionalReasonOption, reasonOption, secretFromStdin } from './options.js';
import { registerSessions } from './operator-sessions.js';
import { asWritten } from '../../src/shared/say.js';

/** `topup operator …`: operators and their rights in the console and the CLI. */
export function registerOperator(program: Command): void {
  const group = defineGroup(
    program,
    'operator',
    'Operators, and what they may do in the console and the command line',
  );
  registerCreate(group);
  registerList(group);
  registerRights(group);
  registerRole(group);
  registerPassword(group);
  registerKey(group);
  registerTotpReset(group);
  registerSessions(group);
  registerRemove(group);
}

const passwordStdin = () =>
  new Option('--password-stdin', 'read the password from standard input (default: generate and print one)');

const changeReason = () => optionalReasonOption();

function registerCreate(group: Command): void {
  defineCommand<{ role: OperatorRole; passwordStdin?: boolean }>(group, {
    usage: 'create <username>',
    action: 'operator.manage',
    summary: 'Create an operator',
    details:
      'topup operator rights shows what each role may do. A password is never an argument. In production, admin and finance\nmust set up a second factor at their first login.',
    examples: [
      'operator create dewi --role viewer',
      'operator create budi --role admin --password-stdin < password.txt',
    ],
    options: [
      new Option('--role <role>', 'what the operator may do').choices(operatorRoles).makeOptionMandatory(),
      passwordStdin(),
    ],
    async run({ arg, options, by }) {
      const username = arg('username');
      const chosen = await choosePassword(options.passwordStdin);
      const { createOperator } = await import('../../src/operators/manage-operators.js');
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
    action: 'operator.look',
    summary: 'List operators',
    examples: ['operator list'],
    async run() {
      const { listOperators } = await import('../../src/operators/manage-operators.js');
      const data = (await listOperators()).map(present);
      const rows = data.map((each) => [
        each.username,
        each.role,
        each.totp ? 'yes' : 'no',
        each.key ? 'yes' : 'no',
        time(each.created_at),
        time(each.password_changed_at),
      ]);
      return {
        data,
        text:
          rows.length === 0
            ? 'There is no operator yet. Create one: npm run topup -- operator create <username> --role admin'
            : table(['username', 'role', 'second factor', 'key', 'created', 'password since'], rows),
      };
    },
  });
}

function present({ username, role, totp, keyHash, createdAt, passwordChangedAt }: Operator) {
  return {
    username,
    role,
    totp: Boolean(totp),
    key: Boolean(keyHash),
    created_at: createdAt,
    password_changed_at: passwordChangedAt,
  };
}

function registerRights(group: Command): void {
  defineCommand(group, {
    usage: 'rights',
    action: 'own.look',
    summary: 'Show what each role may do in the command line and the console',
    examples: ['operator rights', 'operator rights --json'],
    needsService: false,
    run() {
      const actions = Object.keys(rights) as OperatorAction[];
      const rows = actions.map((action) => [
        rights[action].does,
        ...operatorRoles.map((role) => (isAllowed(role, action) ? 'yes' : '-')),
      ]);
      const data = actions.map((action) => ({ action, ...rights[action] }));
      return Promise.resolve({ data, text: table(['what', ...operatorRoles], rows) });
    },
  });
}

function registerRole(group: Command): void {
  defineCommand<{ reason: string }>(group, {
    usage: 'role <username> <role>',
    action: 'operator.manage',
    summary: 'Change the role of an operator',
    details: `One of ${operatorRoles.join(', ')}. Ends all sessions of the operator.`,
    examples: ['operator role dewi finance --reason "takes over deposits"'],
    options: [reasonOption()],
    async run({ arg, by }) {
      const [{ setOperatorRole }, { ValidationError }] = await Promise.all([
        import('../../src/operators/manage-operators.js'),
        import('../../src/shared/errors.js'),
      ]);
      const role = operatorRoles.find((each) => each === arg('role'));
      if (!role) {
        const message = `role must be one of ${operatorRoles.join(', ')}`;
        throw new ValidationError([{ field: 'role', message: asWritten(message) }]);
      }
      const { username } = await setOperatorRole(arg('username'), role, by);
      return { data: { username, role }, text: `${username} now has the role ${role}.` };
    },
  });
}

function registerPassword(group: Command): void {
  defineCommand<{ passwordStdin?: boolean }>(group, {
    usage: 'password <username>',
    action: 'operator.manage',
    summary: 'Give an operator a new password',
    details: 'Ends all sessions of the operator.',
    examples: ['operator password dewi', 'operator password dewi --password-stdin < password.txt'],
    options: [passwordStdin(), changeReason()],
    async run({ arg, options, by }) {
      const chosen = await choosePassword(options.passwordStdin);
      const { setOperatorPassword } = await import('../../src/operators/manage-operators.js');
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

function registerKey(group: Command): void {
  defineCommand(group, {
    usage: 'key <username>',
    action: 'operator.manage',
    summary: 'Give an operator a key for the command line',
    details:
      'The key is printed only once; only its hash is stored. The previous key stops working. Operators can create their own\nkey in the console at /admin/me, where nobody else sees it.',
    examples: ['operator key dewi --reason "first key"'],
    options: [changeReason()],
    async run({ arg, by }) {
      const [{ requireOperator }, { createOperatorKey }] = await Promise.all([
        import('../../src/operators/require-operator.js'),
        import('../../src/operators/operator-key.js'),
      ]);
      const operator = await requireOperator(arg('username'));
      const key = await createOperatorKey(operator, by);
      return {
        data: { username: operator.username, operator_key: key },
        text: facts([
          ['username', operator.username],
          ['operator key', `${key}  (shown once)`],
        ]),
      };
    },
  });
}

function registerTotpReset(group: Command): void {
  defineCommand(group, {
    usage: 'totp-reset <username>',
    action: 'operator.manage',
    summary: 'Reset the second factor of an operator who lost the app and the recovery codes',
    details:
      'Ends all sessions of the operator. Verify the identity of the operator first: afterwards the password alone is enough to log in.',
    examples: ['operator totp-reset dewi --reason "phone lost, asked in person"'],
    options: [reasonOption()],
    async run({ arg, by }) {
      const [{ requireOperator }, { resetSecondFactor }] = await Promise.all([
        import('../../src/operators/require-operator.js'),
        import('../../src/operators/second-factor.js'),
      ]);
      const operator = await requireOperator(arg('username'));
      await resetSecondFactor(operator, by);
      const { username } = operator;
      return { data: { username, totp: false }, text: `${username} no longer has a second factor.` };
    },
  });
}

function registerRemove(group: Command): void {
  defineCommand(group, {
    usage: 'remove <username>',
    action: 'operator.manage',
    summary: 'Remove an operator',
    details: 'Ends all sessions of the operator at once. The key of the operator stops working.',
    examples: ['operator remove dewi --reason "left the company"'],
    options: [reasonOption()],
    async run({ arg, by }) {
      const { removeOperator } = await import('../../src/operators/manage-operators.js');
      await removeOperator(arg('username'), by);
      return { data: { username: arg('username'), removed: true }, text: `${arg('username')} is removed.` };
    },
  });
}

async function choosePassword(fromStdin: boolean | undefined): Promise<{ password: string; made: boolean }> {
  if (fromStdin) {
    return { password: await secretFromStdin(), made: false };
  }
  const { generatePassword } = await import('../../src/operators/password.js');
  return { password: generatePassword(), made: true };
}
