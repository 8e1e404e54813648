/**
 * A secret that is displayed but not confirmed belongs to the browser that displayed it. Another
 * person who knows the password cannot use it.
 */
import { expect } from 'chai';
import { Secret, TOTP } from 'otpauth';
import { consoleClient, csrfIn, fields, type ConsoleClient } from '../support/console-client.js';
import { productionEnv } from '../support/production-env.js';
import { startStack, type Stack } from '../support/stack.js';
import { topup } from '../support/topup.js';

describe('a second factor during its setup', function () {
  this.timeout(120_000);
  let stack: Stack;
  let url = '';
  let host = 0;
  const browser = (): ConsoleClient => consoleClient(url, `198.51.100.${(host += 1)}`);

  before(async () => {
    stack = await startStack({ web: false, env: { TRUST_PROXY: '1' } });
    url = (await stack.startWeb(productionEnv())).url;
  });
  after(() => stack.stop());

  const operator = async (...args: string[]) =>
    (await topup(['operator', ...args, '--json'], stack.env)).json();
  const newOperator = async (username: string, role: string) =>
    String((await operator('create', username, '--role', role))['password']);
  const newPassword = async (username: string) => String((await operator('password', username))['password']);
  const codeOf = (secret: string, periodsAhead = 0) =>
    new TOTP({ secret: Secret.fromBase32(secret) }).generate({
      timestamp: Date.now() + periodsAhead * 30_000,
    });
  const shownTo = async (client: ConsoleClient) =>
    /Key: <code>([A-Z2-7 ]+)</
      .exec((await client.get('/admin/login/enrol')).text)?.[1]
      ?.replaceAll(' ', '') ?? '';
  const confirm = async (client: ConsoleClient, code: string, csrf: string) =>
    client.send('POST', '/admin/login/enrol', fields({ code, _csrf: csrf }));
  const csrfOf = async (client: ConsoleClient) => csrfIn((await client.get('/admin/login/enrol')).text);
  /** Calls the console's API. */
  const call = async (client: ConsoleClient, path: string, body: object) => {
    const answer = await client.send('POST', `/admin/api${path}`, JSON.stringify(body), {
      accept: '*/*',
      'content-type': 'application/json',
      'x-xsrf-token': client.cookie('XSRF-TOKEN') ?? '',
    });
    return { status: answer.status, data: JSON.parse(answer.text).data as { secret: string } };
  };

  it('has a new secret in each browser, and only the newest can be confirmed', async () => {
    const password = await newOperator('first', 'finance');
    const [thief, owner] = [browser(), browser()];
    await thief.login('first', password);
    const noted = await shownTo(thief);
    const csrf = await csrfOf(thief);
    await owner.login('first', password);
    const secret = await shownTo(owner);
    expect(secret).to.not.equal(noted);
    expect(await shownTo(owner), 'secret of a reloaded page').to.equal(secret);
    const late = await confirm(thief, codeOf(noted), csrf);
    expect(late.status, 'replaced secret').to.equal(409);
    expect(late.text).to.include('no longer valid').and.to.include('<svg');
    const again = await shownTo(owner);
    expect(again, 'secret after a failed attempt elsewhere').to.not.equal(secret);
    expect((await confirm(owner, codeOf(again), await csrfOf(owner))).status).to.equal(200);
    const next = browser();
    await next.login('first', password);
    const form = await next.get('/admin/login/code');
    const used = fields({ code: codeOf(noted, 1), _csrf: csrfIn(form.text) });
    expect((await next.send('POST', '/admin/login/code', used)).status).to.equal(401);
  });

  it('has a new secret after a change of password', async () => {
    const [thief, owner] = [browser(), browser()];
    await thief.login('second', await newOperator('second', 'finance'));
    const noted = await shownTo(thief);
    await owner.login('second', await newPassword('second'));
    expect(await shownTo(owner))
      .to.not.equal(noted)
      .and.to.not.equal('');
  });

  it('cannot be confirmed by another session or after a new password', async () => {
    const password = await newOperator('third', 'viewer');
    const [thief, owner] = [browser(), browser()];
    await thief.login('third', password);
    const { secret: noted } = (await call(thief, '/me/second-factor', { password })).data;
    await owner.login('third', password);
    const stolen = () => call(owner, '/me/second-factor/confirm', { code: codeOf(noted) });
    expect((await stolen()).status, 'secret of another session').to.equal(409);
    await owner.login('third', await newPassword('third'));
    expect((await stolen()).status, 'secret from before the new password').to.equal(409);
    const found = await stack.db.collection('operators').findOne({ username: 'third' });
    expect(found?.['totp']).to.equal(null);
  });

  it('cannot be confirmed after it has expired', async () => {
    const password = await newOperator('fourth', 'viewer');
    const owner = browser();
    await owner.login('fourth', password);
    const { secret } = (await call(owner, '/me/second-factor', { password })).data;
    const set = { 'totpPending.since': new Date(Date.now() - 3_700_000) };
    await stack.db.collection('operators').updateOne({ username: 'fourth' }, { $set: set });
    expect((await call(owner, '/me/second-factor/confirm', { code: codeOf(secret) })).status).to.equal(409);
    const { secret: fresh } = (await call(owner, '/me/second-factor', { password })).data;
    expect((await call(owner, '/me/second-factor/confirm', { code: codeOf(fresh) })).status).to.equal(200);
  });
});
