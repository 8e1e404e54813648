import { expect } from 'chai';
import { Secret, TOTP } from 'otpauth';
import { consoleClient, csrfIn, fields, type ConsoleClient } from '../support/console-client.js';
import { productionEnv } from '../support/production-env.js';
import { startStack, type Stack } from '../support/stack.js';
import { topup } from '../support/topup.js';

describe('console login', function () {
  this.timeout(120_000);
  let stack: Stack;
  /** The URLs of two web processes, as in production. */
  const urls: string[] = [];
  let url = '';
  const passwords = new Map<string, string>();
  const production = productionEnv();

  before(async () => {
    stack = await startStack({ web: false, env: { TRUST_PROXY: '1' } });
    const webs = await Promise.all([stack.startWeb(production), stack.startWeb(production)]);
    urls.push(...webs.map((each) => each.url));
    url = urls[0] ?? '';
    for (const [username, role] of [
      ['ani', 'admin'],
      ['fitri', 'finance'],
      ['fajar', 'finance'],
      ['vina', 'viewer'],
      ['vino', 'viewer'],
      ['vera', 'viewer'],
    ] as const) {
      const made = await topup(['operator', 'create', username, '--role', role, '--json'], stack.env);
      passwords.set(username, made.json<{ password: string }>().password);
    }
  });
  after(() => stack.stop());

  let host = 0;
  const browser = (at = url): ConsoleClient => consoleClient(at, `198.51.100.${(host += 1)}`);
  const passwordOf = (username: string) => passwords.get(username) ?? '';
  const operatorOf = (username: string) => stack.db.collection('operators').findOne({ username });
  const auditOf = (action: RegExp) =>
    stack.db.collection('audit').find({ action }).sort({ _id: 1 }).toArray();
  const isIn = async (client: ConsoleClient) => (await client.get('/admin')).status === 200;

  /** Returns the code of a later period. The codes of earlier periods may already be used. */
  const codeOf = (secret: string, periodsAhead = 0) =>
    new TOTP({ secret: Secret.fromBase32(secret) }).generate({
      timestamp: Date.now() + periodsAhead * 30_000,
    });
  const send = async (client: ConsoleClient, path: string, values: Record<string, string>, form = path) => {
    const page = await client.get(form);
    return client.send('POST', path, fields({ ...values, _csrf: csrfIn(page.text) }));
  };
  /** Makes a change through the console's API. */
  const change = (client: ConsoleClient, path: string, body: object) =>
    client.send('POST', `/admin/api${path}`, JSON.stringify(body), {
      accept: '*/*',
      'content-type': 'application/json',
      'x-xsrf-token': client.cookie('XSRF-TOKEN') ?? '',
    });
  const dataOf = ({ text }: { text: string }) => JSON.parse(text).data;
  const secretIn = (page: string) => /Key: <code>([A-Z2-7 ]+)</.exec(page)?.[1]?.replaceAll(' ', '') ?? '';
  const recoveryIn = (page: string) =>
    [...page.matchAll(/<code>([A-Z2-7]{4}(?:-[A-Z2-7]{4}){3})</g)].map(([, code]) => code ?? '');

  let secret = '';
  let recovery: string[] = [];
  let setUpWith = '';

  it('requires admins and finance to set up a second factor first in production', async () => {
    const client = browser();
    const answer = await client.login('ani', passwordOf('ani'));
    expect(answer.headers['location']).to.equal('/admin/login/enrol');
    expect(await isIn(client), 'session after the password alone').to.equal(false);
    expect((await client.get('/admin/login/code')).status, 'no code page before the set-up').to.equal(303);
    const page = await client.get('/admin/login/enrol');
    expect(page.text).to.include('<svg');
    secret = secretIn(page.text);
    expect(secretIn((await client.get('/admin/login/enrol')).text), 'after a reload').to.equal(secret);
    const wrong = await send(client, '/admin/login/enrol', { code: '000000' });
    expect(wrong.status).to.equal(401);
    expect(wrong.text).to.include('role="alert"');
    setUpWith = codeOf(secret);
    const done = await send(client, '/admin/login/enrol', { code: setUpWith });
    expect(done.status).to.equal(200);
    recovery = recoveryIn(done.text);
    expect(new Set(recovery).size).to.equal(10);
    expect(await isIn(client)).to.equal(true);
    const stored = JSON.stringify(await operatorOf('ani'));
    expect(stored).to.not.include(secret);
    recovery.forEach((code) =>
      expect(stored).to.not.include(code).and.to.not.include(code.replaceAll('-', '')),
    );
    const finance = await browser().login('fitri', passwordOf('fitri'));
    expect(finance.headers['location']).to.equal('/admin/login/enrol');
    expect((await browser().login('vina', passwordOf('vina'))).headers['location']).to.equal('/admin');
  });

  it('accepts a code once across two processes', async () => {
    const clients = [browser(urls[0]), browser(urls[1])];
    const answers = await Promise.all(clients.map((client) => client.login('ani', passwordOf('ani'))));
    answers.forEach((each) => expect(each.headers['location']).to.equal('/admin/login/code'));
    const first = clients[0] ?? browser();
    expect(
      (await send(first, '/admin/login/code', { code: setUpWith })).status,
      'code of the set-up',
    ).to.equal(401);
    expect((await send(first, '/admin/login/code', { code: '' })).status).to.equal(401);
    const code = codeOf(secret, 1);
    const both = await Promise.all(clients.map((client) => send(client, '/admin/login/code', { code })));
    expect(both.map((each) => each.status).sort()).to.deep.equal([303, 401]);
    expect((await Promise.all(clients.map(isIn))).filter(Boolean)).to.have.length(1);
  });

  it('accepts a recovery code once, in any notation', async () => {
    const clients = [browser(urls[0]), browser(urls[1])];
    await Promise.all(clients.map((client) => client.login('ani', passwordOf('ani'))));
    const [used = '', other = ''] = recovery;
    const both = await Promise.all(
      clients.map((client) => send(client, '/admin/login/code', { code: used })),
    );
    expect(both.map((each) => each.status).sort()).to.deep.equal([303, 401]);
    const third = browser();
    await third.login('ani', passwordOf('ani'));
    const typed = other.replaceAll('-', ' ').toLowerCase();
    expect((await send(third, '/admin/login/code', { code: typed })).status).to.equal(303);
    expect(((await operatorOf('ani'))?.['recoveryHashes'] as unknown[]).length).to.equal(8);
    const factors = (await auditOf(/^login$/)).map((each) => (each['after'] as { factor: string }).factor);
    expect(factors).to.include.members(['totp', 'recovery-code', 'password']);
  });

  it('blocks codes of an operator after five wrong ones from any address', async () => {
    const statuses: number[] = [];
    const client = browser();
    await client.login('ani', passwordOf('ani'));
    for (let n = 0; n < 6; n += 1) {
      statuses.push((await send(client, '/admin/login/code', { code: String(100_000 + n) })).status);
    }
    expect(statuses).to.deep.equal([401, 401, 401, 401, 401, 429]);
    const elsewhere = browser(urls[1]);
    await elsewhere.login('ani', passwordOf('ani'));
    expect((await send(elsewhere, '/admin/login/code', { code: recovery[2] ?? '' })).status).to.equal(429);
  });

  it('limits wrong codes during the setup of a second factor', async () => {
    const client = browser();
    await client.login('fajar', passwordOf('fajar'));
    const statuses: number[] = [];
    for (let n = 0; n < 6; n += 1) {
      statuses.push((await send(client, '/admin/login/enrol', { code: String(100_000 + n) })).status);
    }
    expect(statuses).to.deep.equal([401, 401, 401, 401, 401, 429]);
    const elsewhere = browser(urls[1]);
    await elsewhere.login('fajar', passwordOf('fajar'));
    const shown = secretIn((await elsewhere.get('/admin/login/enrol')).text);
    const right = await send(elsewhere, '/admin/login/enrol', { code: codeOf(shown) });
    expect([right.status, Number(right.headers['retry-after']) > 0]).to.deep.equal([429, true]);
    expect((await operatorOf('fajar'))?.['totp']).to.equal(null);
    expect(await isIn(elsewhere)).to.equal(false);
  });

  it('lists and ends sessions, in the console and by an admin', async () => {
    const here = browser();
    await here.login('vina', passwordOf('vina'));
    const there = browser(urls[1]);
    await there.login('vina', passwordOf('vina'));
    const { sessions }: { sessions: { address: string; is_this: boolean }[] } = dataOf(
      await here.get('/admin/api/me', { accept: '*/*' }),
    );
    // Only the first two are from this test. Sessions of earlier tests follow.
    expect(sessions.slice(0, 2).map((each) => each.address)).to.deep.equal([
      `198.51.100.${host}`,
      `198.51.100.${host - 1}`,
    ]);
    expect(sessions.slice(0, 2).map((each) => each.is_this)).to.deep.equal([false, true]);
    const listed = await topup(['operator', 'sessions', 'vina', '--json'], stack.env);
    const [newest] = listed.json<{ id: string; address: string }[]>();
    expect(newest?.address).to.equal(`198.51.100.${host}`);
    const own = await change(here, '/me/end-sessions', { session: newest?.id ?? '' });
    expect(own.status, own.text).to.equal(200);
    expect([await isIn(here), await isIn(there)]).to.deep.equal([true, false]);
    await there.login('vina', passwordOf('vina'));
    const [again] = (await topup(['operator', 'sessions', 'vina', '--json'], stack.env)).json<
      { id: string }[]
    >();
    await topup(['operator', 'end-sessions', 'vina', '--session', again?.id ?? ''], stack.env);
    expect([await isIn(here), await isIn(there)]).to.deep.equal([true, false]);
    await there.login('vina', passwordOf('vina'));
    await topup(['operator', 'end-sessions', 'vina'], stack.env);
    expect([await isIn(here), await isIn(there)]).to.deep.equal([false, false]);
    expect((await topup(['operator', 'end-sessions', 'vina', '--session', 'none'], stack.env)).code).to.equal(
      1,
    );
    await Promise.all([here, there].map((client) => client.login('vina', passwordOf('vina'))));
    const all = await change(here, '/me/end-sessions', { session: null });
    expect(all.status, all.text).to.equal(200);
    expect([await isIn(here), await isIn(there)]).to.deep.equal([false, false]);
    expect(here.cookie('topup_admin'), 'removed cookie').to.equal(undefined);
  });

  it('ends other sessions after a change of role or second factor', async () => {
    const ends = async (change: () => Promise<unknown>) => {
      const client = browser();
      await client.login('vino', passwordOf('vino'));
      expect(await isIn(client)).to.equal(true);
      await change();
      expect(await isIn(client)).to.equal(false);
    };
    const why = ['--reason', 'a test'];
    await ends(() => topup(['operator', 'role', 'vino', 'support', ...why], stack.env));
    await ends(() => topup(['operator', 'totp-reset', 'vino', ...why], stack.env));
    await ends(async () => {
      const client = browser();
      await client.login('vino', passwordOf('vino'));
      const shown = await change(client, '/me/second-factor', { password: passwordOf('vino') });
      const code = codeOf(dataOf(shown).secret);
      const done = await change(client, '/me/second-factor/confirm', { code });
      expect(dataOf(done).recovery_codes).to.have.length(10);
      expect(await isIn(client)).to.equal(true);
    });
    const roles = (await auditOf(/^operator\.role$/))[0];
    expect([roles?.['before'], roles?.['after']]).to.deep.equal([
      { username: 'vino', role: 'viewer' },
      { username: 'vino', role: 'support' },
    ]);
    // When a role requires a second factor, operators without one are refused, even in an existing
    // session.
    const client = browser();
    await client.login('vera', passwordOf('vera'));
    await stack.db.collection('operators').updateOne({ username: 'vera' }, { $set: { role: 'finance' } });
    expect(await isIn(client)).to.equal(false);
  });

  it('limits guesses per IPv6 /64 network, and to fifty per username', async () => {
    const guess = async (at: string, address: string, n: number) =>
      (await consoleClient(at, address).login('vina', `guess number ${n}`)).status;
    const known = browser();
    expect((await known.login('vina', passwordOf('vina'))).status).to.equal(303);
    const leaving = { 'x-xsrf-token': known.cookie('XSRF-TOKEN') ?? '' };
    expect((await known.send('POST', '/admin/logout', undefined, leaving)).status).to.equal(303);
    const neighbours: number[] = [];
    for (let n = 0; n < 7; n += 1) {
      neighbours.push(await guess(urls[n % 2] ?? '', `2001:db8:1:2::${n + 1}`, n));
    }
    expect(neighbours).to.deep.equal([401, 401, 401, 401, 401, 429, 429]);
    const many = await Promise.all(
      Array.from({ length: 60 }, (_, n) => guess(urls[n % 2] ?? '', `2001:db8:9:${n.toString(16)}::1`, n)),
    );
    expect(many.filter((status) => status === 401)).to.have.length(45);
    expect(many.filter((status) => status === 429)).to.have.length(15);
    expect((await browser().login('vina', passwordOf('vina'))).status, 'unknown browser').to.equal(429);
    expect((await known.login('vina', passwordOf('vina'))).status, 'known browser').to.equal(303);
    const entries = await auditOf(/^login\.limited$/);
    expect(entries.length, 'once per window and limit').to.be.within(2, 6);
  });

  it('stores no typed text and treats impossible names like wrong passwords', async () => {
    const typed = ['My Secret Password 1!', 'x'.repeat(9_000), 'constructor', 'nobody-here'];
    for (const name of typed) {
      const answer = await browser().login(name, 'some password or other');
      expect(answer.status, name.slice(0, 20)).to.equal(401);
      expect(answer.text).to.include('The username or the password is wrong.');
    }
    const entries = await auditOf(/^login\.failed$/);
    expect(entries.at(-1)).to.deep.include({
      actor: 'anonymous',
      subject: { kind: 'operator', id: 'unknown' },
      after: { factor: 'password' },
    });
    const all = JSON.stringify(await stack.db.collection('audit').find({}).toArray());
    for (const text of [
      'Secret Password',
      'xxxx',
      'nobody-here',
      'some password',
      'guess number',
      secret,
      ...recovery,
    ]) {
      expect(all).to.not.include(text);
    }
  });

  it('refuses logins without checking the password while Redis is down', async () => {
    const away = await stack.startWeb({ ...production, REDIS_URL: 'redis://127.0.0.1:1' });
    const before = (await auditOf(/^login/)).length;
    for (const password of [passwordOf('vino'), 'wrong']) {
      const answer = await browser(away.url).login('vino', password);
      expect(answer.status).to.equal(503);
      expect(answer.headers['retry-after']).to.equal('3');
    }
    expect((await auditOf(/^login/)).length).to.equal(before);
  });
});
