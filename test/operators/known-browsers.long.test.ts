/** Known browsers: how many password attempts they allow, and for how long. */
import { expect } from 'chai';
import { consoleClient, type ConsoleClient } from '../support/console-client.js';
import { startStack, type Stack } from '../support/stack.js';
import { topup } from '../support/topup.js';

describe('a browser that has logged in before', function () {
  this.timeout(120_000);
  let stack: Stack;
  let host = 0;

  before(async () => {
    stack = await startStack({ env: { TRUST_PROXY: '1' } });
  });
  after(() => stack.stop());

  const browser = (): ConsoleClient => consoleClient(stack.baseUrl, `198.51.100.${(host += 1)}`);
  const json = async (...command: string[]) =>
    (await topup([...command, '--json'], stack.env)).json<{ password: string }>().password;
  const create = (username: string) => json('operator', 'create', username, '--role', 'viewer');
  /** Ends the session and keeps the cookie that marks the browser as known. */
  const leave = (client: ConsoleClient) =>
    client.send('POST', '/admin/logout', undefined, {
      'x-xsrf-token': client.cookie('XSRF-TOKEN') ?? '',
    });

  async function logInAsKnownBrowser(username: string, password: string): Promise<ConsoleClient> {
    const client = browser();
    expect((await client.login(username, password)).status).to.equal(303);
    await leave(client);
    expect(client.cookie('topup_browser')).to.be.a('string');
    return client;
  }

  /** Exhausts the attempts that unknown browsers have for a username. */
  async function exhaustAttempts(username: string): Promise<void> {
    const statuses: number[] = [];
    while (!statuses.includes(429) && statuses.length < 60) {
      const some = [1, 2, 3, 4, 5].map((n) => browser().login(username, `a guess ${n}`));
      statuses.push(...(await Promise.all(some)).map(({ status }) => status));
    }
    expect(statuses).to.include(429);
  }

  for (const [what, username, change] of [
    ['a new password', 'rini', (name: string) => ['operator', 'password', name, '--reason', 'left']],
    ['the end of all sessions', 'siti', (name: string) => ['operator', 'end-sessions', name]],
  ] as const) {
    it(`is unknown after ${what} until its next login`, async () => {
      const first = await create(username);
      const old = await logInAsKnownBrowser(username, first);
      const done = await topup([...change(username), '--json'], stack.env);
      expect(done.code, done.stderr).to.equal(0);
      const password = done.json<{ password?: string }>().password ?? first;
      const since = await logInAsKnownBrowser(username, password);
      await exhaustAttempts(username);
      expect((await old.login(username, password)).status).to.equal(429);
      expect((await since.login(username, password)).status).to.equal(303);
    });
  }

  it('is unknown to a new operator with the same name', async () => {
    const old = await logInAsKnownBrowser('tono', await create('tono'));
    await topup(['operator', 'remove', 'tono', '--reason', 'left'], stack.env);
    const password = await create('tono');
    await exhaustAttempts('tono');
    expect((await old.login('tono', password)).status).to.equal(429);
  });

  it("shares a limit of fifty wrong passwords with the operator's other browsers", async () => {
    const password = await create('umi');
    const many: ConsoleClient[] = [];
    for (let n = 0; n < 11; n += 1) {
      many.push(await logInAsKnownBrowser('umi', password));
    }
    const [last = browser(), ...others] = many;
    const statuses: number[] = [];
    for (let n = 0; n < 6; n += 1) {
      for (const client of others) {
        statuses.push((await client.login('umi', `a guess ${n}`)).status);
      }
    }
    expect(statuses.filter((status) => status === 401)).to.have.length(50);
    expect((await last.login('umi', 'a guess of the last')).status).to.equal(429);
  });
});
