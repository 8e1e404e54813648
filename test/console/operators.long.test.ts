/**
 * Who may log in as an operator, and changes to the own account, through the console operations.
 */
import { expect } from 'chai';
import { Secret, TOTP } from 'otpauth';
import { consoleOperations } from '../../src/console/api/operations.js';
import type { Operator } from '../../src/operators/operator.model.js';
import { isAllowed, operatorRoles, rights, type OperatorAction } from '../../src/operators/rights.js';
import { consoleClient } from '../support/console-client.js';
import { callerAs, reason, type Caller } from './support/console-caller.js';
import { password, startOperatedStack, type OperatedStack } from './support/operated-stack.js';

describe('operators in the console', function () {
  this.timeout(90_000);
  let shop: OperatedStack;
  let admin: Caller;

  before(async () => {
    shop = await startOperatedStack();
    admin = await callerAs(shop, 'admin');
  });
  after(() => shop.stack.stop());

  const operators = () => shop.stack.db.collection<Operator>('operators');
  const operatorOf = (username: string) => operators().findOne({ username });
  const idOf = async (username: string) => (await operatorOf(username))?._id ?? '';
  let host = 0;
  const browser = () => consoleClient(shop.stack.baseUrl, `198.51.100.${(host += 1) + 100}`);
  async function logInAs(username: string, by = password) {
    const client = browser();
    expect((await client.login(username, by)).headers['location']).to.equal('/admin');
    return client;
  }
  const isIn = async (client: ReturnType<typeof browser>) => (await client.get('/admin')).status === 200;
  const proven = { reason, password };
  const codeOf = (secret: string, periodsAhead: number) =>
    new TOTP({ secret: Secret.fromBase32(secret) }).generate({
      timestamp: Date.now() + periodsAhead * 30_000,
    });

  it('creates an operator with a password that only the response shows', async () => {
    const made = await admin.ask('createOperator', '/operators', {
      ...proven,
      username: 'dewi',
      role: 'support',
    });
    expect(made.username).to.equal('dewi');
    const client = await logInAs('dewi', made.password);
    const created = await shop.stack.db
      .collection('audit')
      .findOne({ 'subject.id': await idOf('dewi'), action: 'operator.create' });
    expect(created).to.include({ actor: `operator:${admin.username}`, reason, from: '198.51.100.7' });
    const shown = await admin.call('/operators');
    expect(shown.text).to.include('"username":"dewi"').and.to.not.include(made.password);
    const stored = JSON.stringify([created, await operatorOf('dewi')]);
    expect(stored).to.not.include(made.password);
    const again = await admin.call('/operators', { ...proven, username: 'dewi', role: 'viewer' });
    expect(again.status, again.text).to.equal(409);
    expect((await operatorOf('dewi'))?.role).to.equal('support');
    expect(await isIn(client)).to.equal(true);
  });

  it('a change of role, password or second factor ends all sessions and is audited', async () => {
    const username = await shop.addOperator('viewer');
    const id = await idOf(username);
    const ends = async (by: string, change: () => Promise<unknown>, action: string) => {
      const client = await logInAs(username, by);
      await change();
      expect(await isIn(client), action).to.equal(false);
      return admin.expectAudited(id, action);
    };
    const role = await ends(
      password,
      () => admin.ask('setOperatorRole', `/operators/${username}/role`, { ...proven, role: 'operations' }),
      'operator.role',
    );
    expect(role['before']).to.deep.equal({ username, role: 'viewer' });
    expect(role['after']).to.deep.equal({ username, role: 'operations' });
    let given = '';
    await ends(
      password,
      async () => {
        const path = `/operators/${username}/password`;
        given = (await admin.ask('resetOperatorPassword', path, proven)).password;
      },
      'operator.password',
    );
    expect((await browser().login(username, password)).status, 'login with the old password').to.equal(401);
    await ends(
      given,
      () => admin.ask('resetOperatorSecondFactor', `/operators/${username}/reset-second-factor`, proven),
      'operator.totp-reset',
    );
    await ends(
      given,
      () => admin.ask('removeOperator', `/operators/${username}/remove`, proven),
      'operator.remove',
    );
    expect(await operatorOf(username)).to.equal(null);
    const notFound = await admin.call(`/operators/${username}/remove`, proven);
    expect(notFound.status, notFound.text).to.equal(404);
  });

  it('lists and ends sessions of other operators, one or all, without a password', async () => {
    const username = await shop.addOperator('viewer');
    const [first, second] = [await logInAs(username), await logInAs(username)];
    const listed = async () => {
      const { operators: all } = await admin.ask('listOperators', '/operators');
      return all.find((each: { username: string }) => each.username === username).sessions as {
        id: string;
        address: string;
        is_this: boolean;
      }[];
    };
    const sessions = await listed();
    expect(sessions.map((each) => each.address)).to.deep.equal([
      `198.51.100.${host + 100}`,
      `198.51.100.${host + 99}`,
    ]);
    expect(sessions.some((each) => each.is_this)).to.equal(false);
    const path = `/operators/${username}/end-sessions`;
    await admin.ask('endOperatorSessions', path, { reason, session: sessions[0]?.id });
    await admin.expectAudited(await idOf(username), 'operator.end-session');
    expect([await isIn(first), await isIn(second)]).to.deep.equal([true, false]);
    const over = await admin.call(path, { reason, session: sessions[0]?.id });
    expect(over.status, over.text).to.equal(404);
    expect(await listed()).to.have.length(1);
    await admin.ask('endOperatorSessions', path, { reason, session: null });
    await admin.expectAudited(await idOf(username), 'operator.end-sessions');
    expect(await isIn(first)).to.equal(false);
    expect(
      (await admin.call('/operators/nobody-here/end-sessions', { reason, session: null })).status,
    ).to.equal(404);
  });

  it('every change of credentials requires the password', async () => {
    const username = await shop.addOperator('viewer');
    const everybody = async () => JSON.stringify(await operators().find().sort({ _id: 1 }).toArray());
    const asked = consoleOperations.filter(({ body }) => body?.describe().keys.password !== undefined);
    expect(asked.map(({ id }) => id)).to.have.members([
      'createOperator',
      'setOperatorRole',
      'resetOperatorPassword',
      'resetOperatorSecondFactor',
      'removeOperator',
      'changeOwnPassword',
      'beginOwnSecondFactor',
      'makeRecoveryCodes',
      'makeOwnKey',
    ]);
    for (const { id, path } of asked) {
      // Use a new admin each time, because wrong passwords are counted per operator.
      const caller = await callerAs(shop, 'admin');
      const before = await everybody();
      const answer = await caller.call(path.replace(':username', username), {
        reason,
        password: 'not the password',
        code: '',
        ...(id === 'createOperator' && { username: 'somebody' }),
        ...(['createOperator', 'setOperatorRole'].includes(id) && { role: 'admin' }),
        ...(id === 'changeOwnPassword' && {
          new_password: 'another long one',
          new_password_again: 'another long one',
        }),
      });
      expect(answer.status, `${id} ${answer.text}`).to.equal(401);
      expect(answer.text, id).to.include('The password is wrong.');
      expect(await everybody(), id).to.equal(before);
      expect(await isIn(caller.client), `${id}: still logged in`).to.equal(true);
      expect(await caller.lastAudit(await idOf(caller.username))).to.include({ action: 'login.failed' });
    }
  });

  it('an operator with a second factor must also send a code, and each works once', async () => {
    const caller = await callerAs(shop, 'admin');
    const { secret, uri } = await caller.ask('beginOwnSecondFactor', '/me/second-factor', { password });
    expect(uri).to.include(secret);
    expect((await operatorOf(caller.username))?.totp ?? null, 'before the first code').to.equal(null);
    expect((await caller.ask('getSession', '/session')).has_second_factor).to.equal(false);
    const wrong = await caller.call('/me/second-factor/confirm', { code: '000000' });
    expect(wrong.status, wrong.text).to.equal(401);
    const token = caller.client.cookie('XSRF-TOKEN');
    const { recovery_codes: codes } = await caller.ask(
      'confirmOwnSecondFactor',
      '/me/second-factor/confirm',
      { code: codeOf(secret, 0) },
    );
    expect(new Set(codes).size).to.equal(10);
    expect(caller.client.cookie('XSRF-TOKEN'), 'token of the renewed session').to.not.equal(token);
    expect((await caller.ask('getSession', '/session')).has_second_factor).to.equal(true);
    const stored = JSON.stringify(await operatorOf(caller.username));
    expect(stored).to.not.include(secret).and.to.not.include(codes[0]);

    const create = (code: string, username: string) =>
      caller.call('/operators', { ...proven, code, username, role: 'viewer' });
    expect((await create('', 'without-code')).status).to.equal(401);
    expect((await create('123456', 'wrong-code')).status).to.equal(401);
    const next = codeOf(secret, 1);
    expect((await create(next, 'right-code')).status).to.equal(200);
    expect((await create(next, 'used-code')).status).to.equal(401);
    const known = (await operators().find().toArray()).map(({ username }) => username);
    expect(known).to.include('right-code').and.to.not.include.members(['used-code']);
    expect(known).to.not.include('without-code').and.to.not.include('wrong-code');

    const made = await caller.ask('makeRecoveryCodes', '/me/recovery-codes', { password, code: codes[0] });
    expect(made.recovery_codes).to.have.length(10);
    expect((await caller.ask('getOwn', '/me')).recovery_codes_left).to.equal(10);
    const old = await caller.call('/me/key', { password, code: codes[1] });
    expect(old.status, 'replaced recovery code').to.equal(401);
    const { operator_key: key } = await caller.ask('makeOwnKey', '/me/key', {
      password,
      code: made.recovery_codes[0],
    });
    expect(key).to.match(/^op_/);
    const own = await caller.ask('getOwn', '/me');
    expect(own.recovery_codes_left).to.equal(9);
    expect(own.key_created_at).to.be.a('string');
    expect(JSON.stringify(await operatorOf(caller.username))).to.not.include(key);
  });

  it('five wrong passwords in a session lock further attempts for a while', async () => {
    const caller = await callerAs(shop, 'viewer');
    const statuses: number[] = [];
    for (let n = 0; n < 5; n += 1) {
      statuses.push((await caller.call('/me/key', { password: `guess number ${n}` })).status);
    }
    expect(statuses).to.deep.equal([401, 401, 401, 401, 401]);
    const right = await caller.call('/me/key', { password });
    expect(right.status).to.equal(429);
    expect(Number(right.headers['retry-after'])).to.be.within(1, 900);
    expect((await operatorOf(caller.username))?.keyHash ?? null).to.equal(null);
  });

  it('a session cannot guess the code of an unconfirmed second factor', async () => {
    const caller = await callerAs(shop, 'viewer');
    const { secret } = await caller.ask('beginOwnSecondFactor', '/me/second-factor', { password });
    const confirm = (code: string) => caller.call('/me/second-factor/confirm', { code });
    const right = codeOf(secret, 0);
    const wrong = [1, 2, 3, 4, 5].map(
      (further) => right.slice(0, 5) + String((Number(right[5]) + further) % 10),
    );
    const statuses: number[] = [];
    for (const code of wrong) {
      statuses.push((await confirm(code)).status);
    }
    expect(statuses).to.deep.equal([401, 401, 401, 401, 401]);
    expect(await caller.lastAudit(await idOf(caller.username))).to.include({ action: 'login.failed' });
    const limited = await confirm(codeOf(secret, 0));
    expect(limited.status, limited.text).to.equal(429);
    expect(Number(limited.headers['retry-after'])).to.be.within(1, 900);
    expect((await operatorOf(caller.username))?.totp ?? null).to.equal(null);
  });

  it('changing your own password ends your other sessions and renews this one', async () => {
    const caller = await callerAs(shop, 'support');
    const other = await logInAs(caller.username);
    const fresh = 'another long password';
    const short = await caller.call('/me/password', {
      password,
      new_password: 'short',
      new_password_again: 'short',
    });
    expect(short.status).to.equal(400);
    expect(JSON.parse(short.text).errors[0].field).to.equal('new_password');
    const typed = { password, new_password: fresh, new_password_again: 'a typing error' };
    const mistyped = await caller.call('/me/password', typed);
    expect(mistyped.status).to.equal(400);
    expect(JSON.parse(mistyped.text).errors[0].field).to.equal('new_password_again');
    const [token, session] = [caller.client.cookie('XSRF-TOKEN'), caller.client.cookie('topup_admin')];
    await caller.ask('changeOwnPassword', '/me/password', {
      password,
      new_password: fresh,
      new_password_again: fresh,
    });
    expect(await isIn(other)).to.equal(false);
    expect(await isIn(caller.client)).to.equal(true);
    const before = { cookie: `topup_admin=${session}`, accept: '*/*' };
    expect((await caller.client.get('/admin/api/session', before)).status, 'previous session').to.equal(401);
    const stale = await caller.client.send('POST', '/admin/api/me/end-sessions', '{"session":null}', {
      'content-type': 'application/json',
      'x-xsrf-token': token ?? '',
    });
    expect(stale.status, 'previous token').to.equal(403);
    expect((await browser().login(caller.username, password)).status).to.equal(401);
  });

  it('the last admin cannot lose the role or be removed', async () => {
    const others = await operators()
      .find({ role: 'admin', username: { $ne: admin.username } })
      .toArray();
    await operators().updateMany(
      { _id: { $in: others.map(({ _id }) => _id) } },
      { $set: { role: 'viewer' } },
    );
    for (const [verb, extra] of [
      ['remove', {}],
      ['role', { role: 'viewer' }],
    ] as const) {
      const answer = await admin.call(`/operators/${admin.username}/${verb}`, { ...proven, ...extra });
      expect(answer.status, answer.text).to.equal(409);
    }
    expect((await operatorOf(admin.username))?.role).to.equal('admin');
  });

  it('lists the permissions of each role from the rights table', async () => {
    const viewer = await callerAs(shop, 'viewer');
    const answer = await viewer.ask('getRights', '/rights');
    expect(answer.roles).to.deep.equal(operatorRoles);
    expect(answer.rights).to.have.length(Object.keys(rights).length);
    for (const { action, does, roles } of answer.rights as {
      action: OperatorAction;
      does: string;
      roles: string[];
    }[]) {
      expect(does).to.equal(rights[action].does);
      expect(operatorRoles.filter((role) => isAllowed(role, action))).to.have.members(roles);
    }
    expect((await viewer.call('/operators')).status).to.equal(403);
  });
});
