import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import { AuditModel } from '../../src/audit/audit.model.js';
import { consoleClient, csrfIn, fields, type ConsoleClient } from '../support/console-client.js';
import { productionEnv } from '../support/production-env.js';
import { runToEnd } from '../support/run-to-end.js';
import { startStack, type Stack } from '../support/stack.js';
import { topupProcess } from '../support/topup.js';

const password = 'correct horse battery staple';

describe('security of the operator console', () => {
  let stack: Stack;
  const admin = `admin-${randomUUID().slice(0, 8)}`;
  const viewer = `viewer-${randomUUID().slice(0, 8)}`;

  before(async () => {
    stack = await startStack({ env: { TRUST_PROXY: '1' } });
    await topupProcess(
      ['operator', 'create', admin, '--role', 'admin', '--password-stdin'],
      stack.env,
      password,
    );
    await topupProcess(
      ['operator', 'create', viewer, '--role', 'viewer', '--password-stdin'],
      stack.env,
      password,
    );
  });
  after(() => stack.stop());

  let host = 0;
  /**
   * Returns a client with its own address for each test, so that the wrong passwords of one test do
   * not block another.
   */
  const browser = (): ConsoleClient => consoleClient(stack.baseUrl, `198.51.100.${(host += 1)}`);
  async function logInAs(username: string): Promise<ConsoleClient> {
    const client = browser();
    expect((await client.login(username, password)).status).to.equal(303);
    return client;
  }
  const csrfHeader = (client: ConsoleClient) => ({ 'x-xsrf-token': client.cookie('XSRF-TOKEN') ?? '' });

  it('without a session, redirects pages to the login and refuses scripts with 401', async () => {
    const client = browser();
    for (const path of ['/admin', '/admin/queues', '/admin/queues/api/queues']) {
      const page = await client.get(path);
      expect(page.status, path).to.equal(303);
      expect(page.headers['location']).to.equal('/admin/login');
      expect((await client.get(path, { accept: 'application/json' })).status, path).to.equal(401);
    }
    expect((await client.send('PUT', '/admin/queues/api/queues/fulfilment/pause')).status).to.equal(401);
  });

  it('has a 404 page with a way back, and JSON for scripts', async () => {
    const client = await logInAs(viewer);
    const page = await client.get('/admin/nonsense');
    expect(page.status).to.equal(404);
    expect(page.text).to.include('The console has no page /admin/nonsense').and.to.include('href="/admin"');
    const answer = await client.get('/admin/nonsense', { accept: 'application/json' });
    expect(answer.status).to.equal(404);
    expect(JSON.parse(answer.text)).to.include({ status: 'error', reason: 'not_found' });
  });

  it('a correct login sets HttpOnly, SameSite cookies', async () => {
    const client = browser();
    const answer = await client.login(admin, password);
    expect(answer.status).to.equal(303);
    const session = answer.setCookies.find((each) => each.startsWith('topup_admin='));
    expect(session)
      .to.match(/HttpOnly/)
      .and.to.match(/SameSite=Strict/)
      .and.to.match(/Path=\/admin/);
    expect(session).to.match(/Max-Age=43200/);
    const start = await client.get('/admin');
    expect(start.status).to.equal(200);
    expect((await client.get('/admin/api/session', { accept: '*/*' })).text).to.include(admin);
    expect(start.headers['cache-control']).to.equal('no-store');
  });

  it('marks cookies as Secure in production', async () => {
    const web = await stack.startWeb(productionEnv());
    const { setCookies } = await consoleClient(web.url, '198.51.100.250').get('/admin/login');
    expect(setCookies).to.have.length(1);
    expect(setCookies[0]).to.match(/; Secure/);
  });

  it('refuses a wrong password and an unknown name with the same message', async () => {
    const wrong = await browser().login(admin, 'not the password');
    const unknown = await browser().login('nobody-here', password);
    expect([wrong.status, unknown.status]).to.deep.equal([401, 401]);
    const message = (text: string) => /role="alert">([^<]+)</.exec(text)?.[1];
    expect(message(wrong.text)).to.include('wrong').and.to.equal(message(unknown.text));
  });

  it('locks after five wrong passwords, also concurrent ones', async () => {
    const client = browser();
    const form = await client.get('/admin/login');
    const guess = (value: string) =>
      client.send(
        'POST',
        '/admin/login',
        fields({ username: admin, password: value, _csrf: csrfIn(form.text) }),
        {
          cookie: `topup_login=${/topup_login=([^;]+)/.exec(form.setCookies.join())?.[1] ?? ''}`,
        },
      );
    const answers = await Promise.all(Array.from({ length: 12 }, (_, n) => guess(`guess number ${n}`)));
    expect(answers.filter((each) => each.status === 401)).to.have.length(5);
    expect(answers.filter((each) => each.status === 429)).to.have.length(7);
    const right = await guess(password);
    expect(right.status).to.equal(429);
    expect(Number(right.headers['retry-after'])).to.be.within(1, 900);
    expect((await browser().login(admin, password)).status, 'login from another address').to.equal(303);
  });

  it('refuses a login form without its CSRF token', async () => {
    const client = browser();
    const without = await client.send('POST', '/admin/login', fields({ username: admin, password }));
    expect(without.status).to.equal(403);
    await client.get('/admin/login');
    const wrong = await client.send(
      'POST',
      '/admin/login',
      fields({ username: admin, password, _csrf: 'x' }),
    );
    expect(wrong.status).to.equal(403);
  });

  it('refuses every change without the CSRF token and audits every accepted one', async () => {
    const client = await logInAs(admin);
    const pause = '/admin/queues/api/queues/reports/pause';
    expect((await client.send('PUT', pause)).status).to.equal(403);
    expect((await client.send('PUT', pause, undefined, { 'x-xsrf-token': 'forged' })).status).to.equal(403);
    expect((await client.send('POST', '/admin/logout', fields({}))).status).to.equal(403);

    expect((await client.send('PUT', pause, undefined, csrfHeader(client))).status).to.equal(200);
    const resume = pause.replace('pause', 'resume');
    expect((await client.send('PUT', resume, undefined, csrfHeader(client))).status).to.equal(200);
    // The result of an action is audited before the response is sent.
    const audit = await stack.db
      .collection('audit')
      .find({ actor: `operator:${admin}`, action: /^queue/ })
      .sort({ _id: 1 })
      .toArray();
    expect(audit.map((each) => String(each['action']))).to.deep.equal([
      'queue.pause',
      'queue.pause.done',
      'queue.resume',
      'queue.resume.done',
    ]);
    expect(audit[0]).to.deep.include({ subject: { kind: 'queue', id: 'reports' } });
    expect(audit[0]?.['from']).to.match(/^198\.51\.100\./);
    expect(audit[0]?.['before'], 'state before the action').to.include({ paused: false });
    expect(audit[1]?.['after'], 'result of the action').to.include({ paused: true, http_status: 200 });
  });

  it('a viewer can open the queue board but change nothing', async () => {
    const client = await logInAs(viewer);
    expect((await client.get('/admin/queues')).status).to.equal(200);
    const pause = '/admin/queues/api/queues/reports/pause';
    expect((await client.send('PUT', pause, undefined, csrfHeader(client))).status).to.equal(403);
    const queues = await client.get('/admin/queues/api/queues', { accept: 'application/json' });
    const shown = (JSON.parse(queues.text) as { queues: { name: string; readOnlyMode: boolean }[] }).queues;
    expect(shown.map((each) => each.name)).to.include.members(['fulfilment', 'polling', 'webhooks']);
    expect(shown.every((each) => each.readOnlyMode)).to.equal(true);
  });

  it('shows the queue board with descriptions and no external content', async () => {
    const client = await logInAs(admin);
    const pages = { '/admin': client, '/admin/queues': client, '/admin/login': browser() };
    for (const [path, visitor] of Object.entries(pages)) {
      const { text, headers } = await visitor.get(path);
      expect(text, path).to.not.match(/(?:src|href|action)=["']?(?:https?:)?\/\//i);
      expect(headers['content-security-policy'], path).to.match(/default-src 'none'/);
      expect(headers['content-security-policy'], path).to.not.match(/https?:/);
    }
    const board = await client.get('/admin/queues');
    const script = /src="(static\/js\/main[^"]+)"/.exec(board.text)?.[1] ?? 'none';
    expect((await client.get(`/admin/queues/${script}`)).status).to.equal(200);
    const queues = await client.get('/admin/queues/api/queues', { accept: 'application/json' });
    expect(queues.text).to.include('Sends purchases to a provider');
  });

  it('shows stored text as text, never as markup', async () => {
    const client = browser();
    const form = await client.get('/admin/login');
    const login = fields({ username: viewer, password, _csrf: csrfIn(form.text) });
    await client.send('POST', '/admin/login', login, { 'user-agent': '<script>alert(1)</script>' });
    const { headers, text } = await client.get('/admin/api/me');
    expect(text).to.include('<script>alert(1)</script>');
    // The browser must not render JSON as a page. test/console/browser-operators.long.test.ts
    // checks the page itself.
    expect(headers['content-type']).to.match(/^application\/json/);
    expect(headers['x-content-type-options']).to.equal('nosniff');
  });

  it('ends the session at logout', async () => {
    const client = await logInAs(viewer);
    const token = client.cookie('topup_admin') ?? '';
    const out = await client.send(
      'POST',
      '/admin/logout',
      fields({ _csrf: client.cookie('XSRF-TOKEN') ?? '' }),
    );
    expect(out.status).to.equal(303);
    expect((await client.get('/admin', { cookie: `topup_admin=${token}` })).status).to.equal(303);
  });

  it("the seed generates, sets or leaves the demo operator's password", async () => {
    const seed = async (known?: string): Promise<string | undefined> => {
      const env = { ...stack.env, ...(known !== undefined && { ADMIN_PASSWORD: known }) };
      const printed = await runToEnd('scripts/seed.js', ['--json'], env);
      return (JSON.parse(printed) as { accounts: { admin: { password?: string } } }).accounts.admin.password;
    };
    const [first = '', second = ''] = [await seed(), await seed()];
    expect(second)
      .to.match(/^[\w-]{20}$/)
      .and.not.equal(first);
    expect(await seed(second)).to.equal(second);
    expect((await browser().login('admin', second)).status).to.equal(303);
    expect(await seed(first)).to.equal(undefined);
    expect((await browser().login('admin', second)).status).to.equal(303);
  });

  it('refuses an API key in the console and a session in the API', async () => {
    const accounts = await stack.seed();
    const bearer = { authorization: `Bearer ${accounts['buyer']?.api_key ?? ''}` };
    expect((await browser().get('/admin', bearer)).status).to.equal(303);
    const client = await logInAs(admin);
    const balance = await client.send('POST', '/api/buyer/balance', '{}', {
      'content-type': 'application/json',
      cookie: `topup_admin=${client.cookie('topup_admin') ?? ''}`,
    });
    expect(balance.status).to.equal(401);
  });
});

describe('audit log', () => {
  it('refuses to change or delete an entry through its model', async () => {
    const attempts = [
      () => AuditModel.updateOne({}, { $set: { actor: 'x' } }).exec(),
      () => AuditModel.deleteMany({}).exec(),
      () => AuditModel.findOneAndUpdate({}, { $set: { actor: 'x' } }).exec(),
      () => AuditModel.replaceOne({}, {}).exec(),
    ];
    for (const attempt of attempts) {
      const error = await attempt().then(
        () => null,
        (reason: unknown) => reason,
      );
      expect(String(error)).to.include('cannot be changed or deleted');
    }
  });
});
