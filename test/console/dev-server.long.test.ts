/** The console's dev server with hot reload must forward API requests to the service. */
import { spawn, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { expect } from 'chai';
import { projectRoot } from '../../config/project-file.js';
import { consoleClient, type ConsoleClient } from '../support/console-client.js';
import { eventually } from '../support/eventually.js';
import { password, startOperatedStack, type OperatedStack } from './support/operated-stack.js';

describe('npm run dev -w packages/console', function () {
  this.timeout(90_000);
  let shop: OperatedStack;
  let server: ChildProcess;
  let client: ConsoleClient;

  before(async () => {
    shop = await startOperatedStack();
    const vite = join(projectRoot, 'node_modules/vite/bin/vite.js');
    server = spawn(process.execPath, [vite, '--host', '127.0.0.1', '--port', '0'], {
      cwd: join(projectRoot, 'packages/console'),
      env: { ...process.env, TOPUP_URL: shop.stack.baseUrl, NO_COLOR: '1' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let printed = '';
    server.stdout?.on('data', (chunk: Buffer) => (printed += chunk.toString()));
    server.stderr?.on('data', (chunk: Buffer) => (printed += chunk.toString()));
    const url = await eventually(
      'the dev server listens',
      () => /http:\/\/127\.0\.0\.1:\d+/.exec(printed)?.[0],
      60_000,
    );
    client = consoleClient(url, '198.51.100.9');
    await client.login(await shop.addOperator('admin'), password);
  });
  after(async () => {
    server.kill('SIGTERM');
    await shop.stack.stop();
  });

  it('serves its own pages from source and forwards other requests', async () => {
    for (const path of [
      '/admin',
      '/admin/purchases',
      '/admin/jobs/1%40reports',
      '/admin/me',
      '/admin/operators',
      '/admin/queues-of-none',
    ]) {
      expect((await client.get(path, { accept: 'text/html' })).text, path).to.include('/src/main.tsx');
    }
    for (const [path, content] of [
      ['/admin/queues', 'Top-up queues'],
      ['/admin/style.css', 'body'],
      ['/admin/audit.csv', 'actor'],
      ['/admin/purchases.csv', 'ref_id'],
      ['/admin/api/session', '"role":"admin"'],
    ] as const) {
      const answer = await client.get(path, { accept: 'text/html,*/*' });
      expect(answer.status, path).to.equal(200);
      expect(answer.text, path).to.include(content).and.to.not.include('/src/main.tsx');
    }
  });

  it('logs an operator out', async () => {
    const fields = new URLSearchParams({ _csrf: client.cookie('XSRF-TOKEN') ?? '' });
    const out = await client.send('POST', '/admin/logout', fields.toString());
    expect(out.status).to.equal(303);
    expect(out.headers['location']).to.equal('/admin/login');
    expect((await client.get('/admin/api/session', { accept: '*/*' })).status).to.equal(401);
  });
});
