import { createHash, randomBytes } from 'node:crypto';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import { expect } from 'chai';
import { actorOf } from '../../scripts/topup/acting-operator.js';
import { actionOf } from '../../scripts/topup/define-command.js';
import { topupProgram } from '../../scripts/topup/program.js';
import { projectRoot } from '../../config/project-file.js';
import { mountConsole } from '../../src/console/console-route.js';
import { consoleRoutes } from '../../src/console/console-routes.js';
import { consoleOperations } from '../../src/console/api/operations.js';
import { queueBoardActions } from '../../src/console/queue-actions.js';
import { OperatorModel, type Operator } from '../../src/operators/operator.model.js';
import { hashNewPassword } from '../../src/operators/password.js';
import {
  isAllowed,
  operatorRoles,
  rights,
  type OperatorAction,
  type OperatorRole,
} from '../../src/operators/rights.js';
import { newId } from '../../src/shared/ids.js';
import { consoleClient, fields, type ConsoleClient } from '../support/console-client.js';
import { productionEnv } from '../support/production-env.js';
import { startStack, type Stack } from '../support/stack.js';
import { topup } from '../support/topup.js';
import { useDatabase } from '../webhooks/support/database.js';

const password = 'correct horse battery staple';

interface Person {
  username: string;
  role: OperatorRole;
  key: string;
}

describe('operator rights', function () {
  this.timeout(180_000);
  // This process reads API keys itself. The processes that the test starts have their own database.
  useDatabase();
  let stack: Stack;
  let keyFile: string;
  let environment: NodeJS.ProcessEnv;
  const folder = mkdtempSync(join(tmpdir(), 'topup-key-'));
  const people: Person[] = operatorRoles.flatMap((role) =>
    [1, 2].map((n) => ({
      role,
      username: `${role}-${n}`,
      key: `op_${randomBytes(32).toString('base64url')}`,
    })),
  );

  before(async () => {
    stack = await startStack({ env: { TRUST_PROXY: '1' } });
    keyFile = join(folder, 'key');
    environment = { ...stack.env, TOPUP_OPERATOR_KEY_FILE: keyFile };
  });
  after(async () => {
    rmSync(folder, { recursive: true });
    await stack.stop();
  });

  function writeKeyFile(key: string): void {
    writeFileSync(keyFile, `${key}\n`);
    chmodSync(keyFile, 0o600);
  }

  it('require a key for changes in production, except for the first admin', async () => {
    const production = { ...stack.env, ...productionEnv() };
    const unnamed = await topup(['account', 'create', 'somebody', '--role', 'buyer'], production);
    expect(unnamed.code).to.equal(2);
    expect(unnamed.stderr).to.include('TOPUP_OPERATOR_KEY');
    const made = await topup(['operator', 'create', 'first', '--role', 'admin'], production);
    expect(made.code, made.stderr).to.equal(0);
    const given = await topup(['operator', 'key', 'first', '--json'], production);
    const { operator_key: key } = given.json<{ operator_key: string }>();
    const again = await topup(['operator', 'create', 'second', '--role', 'admin'], production);
    expect(again.code, 'second admin without a key').to.equal(2);
    const named = { ...production, TOPUP_OPERATOR_KEY: key };
    const done = await topup(['account', 'create', 'somebody', '--role', 'buyer'], named);
    expect(done.code, done.stderr).to.equal(0);
    const audit = await stack.db.collection('audit').find({}).toArray();
    expect(audit.find((each) => each['action'] === 'account.create')?.['actor']).to.equal('operator:first');
    expect(JSON.stringify(audit)).to.not.include(key);
    const stored = await stack.db.collection('operators').findOne({ username: 'first' });
    expect(JSON.stringify(stored)).to.not.include(key);
    expect((await topup(['account', 'list'], production)).code, 'reading without a key').to.equal(0);
  });

  it('refuse a readable, unknown or foreign operator key', async () => {
    await insertPeople();
    const [first, second] = people.filter(({ role }) => role === 'admin');
    const suspend = ['account', 'suspend', 'somebody', '--reason', 'a test'];
    writeKeyFile(first?.key ?? '');
    chmodSync(keyFile, 0o640);
    expect((await topup(suspend, environment)).stderr).to.include('chmod 600');
    writeKeyFile(`op_${randomBytes(32).toString('base64url')}`);
    expect((await topup(suspend, environment)).stderr).to.include('No operator has this key');
    writeKeyFile(first?.key ?? '');
    const other = await topup([...suspend, '--as', second?.username ?? ''], environment);
    expect(other.code).to.equal(2);
    const done = await topup([...suspend, '--as', first?.username ?? ''], environment);
    expect(done.code, done.stderr).to.equal(0);
    const unnamed = await topup([...suspend, '--as', first?.username ?? ''], stack.env);
    expect(unnamed.code, '--as without a key').to.equal(2);
    const entry = await stack.db.collection('audit').findOne({ action: 'account.suspend' });
    expect(entry?.['actor']).to.equal(`operator:${first?.username}`);
  });

  it('allow or refuse every command according to the table', async () => {
    const commands = leavesOf(topupProgram());
    expect(commands.length).to.be.greaterThan(40);
    let allowed = 0;
    let refused = 0;
    for (const { role, key, username } of people) {
      process.env['TOPUP_OPERATOR_KEY'] = key;
      for (const command of commands) {
        const action = actionOf(command);
        expect(action, command.name()).to.be.oneOf(Object.keys(rights));
        const actorOrError = await actorOf({
          action: action as OperatorAction,
          as: undefined,
          toleratesOutage: false,
        }).catch((error: unknown) => String(error));
        const isIn = actorOrError === `operator:${username}`;
        expect(isIn, `${role}: topup ${pathOf(command).join(' ')}: ${actorOrError}`).to.equal(
          isAllowed(role, action as OperatorAction),
        );
        if (isIn) {
          allowed += 1;
        } else {
          refused += 1;
          expect(actorOrError).to.include(`role ${role} may not`);
        }
      }
    }
    delete process.env['TOPUP_OPERATOR_KEY'];
    expect([allowed > 0, refused > 0]).to.deep.equal([true, true]);
  });

  it('refuse a command before it has any effect', async () => {
    const before = await countEverything();
    for (const { role, key } of people.filter(({ username }) => username.endsWith('-2'))) {
      writeKeyFile(key);
      for (const command of leavesOf(topupProgram())) {
        const action = actionOf(command) as OperatorAction;
        if (!isAllowed(role, action)) {
          const result = await topup([...pathOf(command), ...argumentsOf(command)], environment);
          expect(result.code, `${role}: ${pathOf(command).join(' ')} ${result.stdout}`).to.equal(1);
          expect(result.stderr, pathOf(command).join(' ')).to.include(`The role ${role} may not`);
        }
      }
    }
    expect(await countEverything()).to.deep.equal(before);
  });

  it('apply the table to every console page, call and queue board action', async () => {
    let host = 0;
    for (const { role, username } of people) {
      const logIn = async () => {
        const client = consoleClient(stack.baseUrl, `198.51.100.${(host += 1)}`);
        expect((await client.login(username, password)).status).to.equal(303);
        return client;
      };
      let client = await logIn();
      for (const { method, path, action } of consoleRoutes) {
        const visitor = /logout/.test(path) ? await logIn() : client;
        const status = await statusOf(visitor, method, `/admin${path}`);
        expect(status !== 403, `${role}: ${method} ${path} ${status}`).to.equal(isAllowed(role, action));
        client = visitor === client ? client : await logIn();
      }
      for (const { method, path, action } of consoleOperations) {
        const url = `/admin/api${path.replace(/:\w+/g, 'nobody')}`;
        const status = await statusOf(client, method, url);
        expect(status !== 403, `${role}: ${method} ${url} ${status}`).to.equal(isAllowed(role, action));
      }
      for (const [name, action] of Object.entries(queueBoardActions)) {
        const [method = '', path = ''] = name.split(' ');
        const real = path.replace(':queueName', 'reports').replace(/:\w+/g, 'nobody');
        const status = await statusOf(client, method, `/admin/queues${real}`);
        expect(status !== 403, `${role}: ${name} ${status}`).to.equal(isAllowed(role, action));
      }
      expect(
        await statusOf(client, 'put', '/admin/queues/API/queues/reports/pause'),
        'path in other letter case',
      ).to.equal(403);
      expect(await statusOf(client, 'delete', '/admin/queues/api/queues/reports'), 'unknown action').to.equal(
        403,
      );
    }
  });

  it('refuse to mount an action without a row, or a POST with a right to read', () => {
    const handle = () => undefined;
    const missing = 'constructor' as OperatorAction;
    expect(() => mountConsole([{ method: 'get', path: '/x', action: missing, handle }])).to.throw(
      /has no row/,
    );
    expect(() => mountConsole([{ method: 'post', path: '/x', action: 'console.start', handle }])).to.throw(
      /a right to read/,
    );
    expect(isAllowed('owner' as OperatorRole, 'console.start'), 'unknown role').to.equal(false);
  });

  it('match the table in docs/reference/roles.md', () => {
    const cellsOf = (line: string) => line.split('|').map((cell) => cell.trim());
    const shown = readFileSync(join(projectRoot, 'docs/reference/roles.md'), 'utf8').split('\n').map(cellsOf);
    for (const action of Object.keys(rights) as OperatorAction[]) {
      const does = rights[action].does;
      const may = operatorRoles.map((role) => (isAllowed(role, action) ? 'yes' : ''));
      const row = shown.find(([, first]) => first === does);
      expect(row, `| ${[does, ...may].join(' | ')} |`).to.deep.equal(['', does, ...may, '']);
    }
  });

  async function insertPeople(): Promise<void> {
    const passwordHash = await hashNewPassword(password);
    const at = new Date();
    const operators: Operator[] = people.map(({ username, role, key }) => ({
      _id: newId(),
      username,
      role,
      passwordHash,
      passwordChangedAt: at,
      sessionEpoch: 0,
      keyHash: createHash('sha256').update(key).digest('hex'),
      keyCreatedAt: at,
      createdAt: at,
    }));
    await stack.db.collection('operators').insertMany(operators as never);
    await OperatorModel.create(operators);
  }

  async function countEverything(): Promise<Record<string, number>> {
    const counts: Record<string, number> = {};
    for (const { name } of await stack.db.listCollections().toArray()) {
      counts[name] = await stack.db.collection(name).countDocuments();
    }
    return counts;
  }
});

function leavesOf(command: Command): Command[] {
  return command.commands.length === 0 ? [command] : command.commands.flatMap(leavesOf);
}

function pathOf(command: Command): string[] {
  return command.parent ? [...pathOf(command.parent), command.name()] : [];
}

/** Returns the command's required arguments, with ids that do not exist. */
function argumentsOf(command: Command): string[] {
  const values: Record<string, string> = {
    amount: '1',
    role: 'viewer',
    '--forward-to': 'http://127.0.0.1:9',
    '--date': '2026-01-01',
    '--margin': '2%',
  };
  const named = command.registeredArguments.map((each) => values[each.name()] ?? 'nobody');
  const options = command.options
    .filter((option) => option.mandatory && option.long !== undefined && option.defaultValue === undefined)
    .flatMap((option) => {
      const long = option.long ?? '';
      return [long, option.argChoices?.[0] ?? values[long] ?? 'nobody'];
    });
  return [...named, ...options];
}

async function statusOf(client: ConsoleClient, method: string, path: string): Promise<number> {
  const csrf = client.cookie('XSRF-TOKEN') ?? '';
  if (method === 'get') {
    return (await client.get(path)).status;
  }
  const isForm = method === 'post' && !/^\/admin\/(queues|api)\//.test(path);
  const answer = await client.send(
    method.toUpperCase() as 'POST',
    path,
    isForm ? fields({ _csrf: csrf, username: 'nobody', session: 'none' }) : '{}',
    isForm ? {} : { 'x-xsrf-token': csrf, 'content-type': 'application/json' },
  );
  return answer.status;
}
