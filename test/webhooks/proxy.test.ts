/**
 * Webhooks through an HTTP proxy: the CONNECT target, and whether a failure counts for the proxy or
 * for the receiver.
 */
import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { parseEnv } from '../../config/env.js';
import { announceDeliveries } from '../../src/webhooks/deliver/delivery-jobs.js';
import { createDeliverer } from '../../src/webhooks/deliver/deliver-due.js';
import { deliveries, type Delivery } from '../../src/webhooks/deliver/delivery.model.js';
import { receivers } from '../../src/webhooks/receivers/receiver.model.js';
import { createSender, type Sender } from '../../src/webhooks/deliver/send-request.js';
import { resolveByDns } from '../../src/shared/outgoing/resolve-host.js';
import { createUrlGuard } from '../../src/webhooks/deliver/url-guard.js';
import { eventually } from '../support/eventually.js';
import { findFreePort } from '../../scripts/databases/ports.js';
import { startProgram, type RunningProgram } from '../support/start-program.js';
import { newAccount, storeSuccess } from './support/accounts.js';
import { useDatabase } from './support/database.js';
import { startNameServer } from './support/name-server.js';
import { proxyPassword, startProxy, type TestProxy } from './support/proxy.js';
import { startReceiver, type TestReceiver } from './support/receiver.js';
import { requireTool } from '../support/require-tool.js';

const publicAddress = '93.184.215.14';

describe('webhooks through a proxy', () => {
  useDatabase();
  let proxy: TestProxy;
  let receiver: TestReceiver;
  let sender: Sender;

  before(async () => {
    [proxy, receiver] = await Promise.all([startProxy(), startReceiver()]);
    sender = createSender(createUrlGuard({ allowPrivate: true }), { proxyUrl: proxy.url });
  });
  beforeEach(() => proxy.behave('serve'));
  after(async () => {
    await sender.close();
    await Promise.all([proxy.close(), receiver.close()]);
  });

  const send = (by: Sender, url: string) => by.send({ url, headers: {}, body: '{}' });

  const event = async (url: string) => storeSuccess((await newAccount({ webhookUrl: url })).account);

  const stored = async ({ _id }: Delivery) => (await deliveries.findOne({ _id })) as Delivery;

  it('connects to the checked address, even if the name changes in between', async () => {
    const names = await startNameServer({
      'moving.hostile.test': (asked) => [asked === 1 ? publicAddress : '127.0.0.1'],
      'inner.hostile.test': () => ['10.1.2.3'],
    });
    const strict = createSender(
      createUrlGuard({ allowPrivate: false, resolve: (name) => resolveByDns(names.resolver, name) }),
      { proxyUrl: proxy.url },
    );
    proxy.behave(504);
    const before = proxy.targets.length;
    expect((await send(strict, 'https://moving.hostile.test/')).kind).to.equal('unreached');
    expect(proxy.targets.slice(before)).to.deep.equal([`${publicAddress}:443`]);
    expect((await send(strict, 'https://moving.hostile.test/')).kind).to.equal('blocked');
    expect((await send(strict, 'https://inner.hostile.test/')).kind).to.equal('blocked');
    expect((await send(strict, 'https://127.0.0.1/')).kind).to.equal('blocked');
    expect(proxy.targets).to.have.length(before + 1);
    await Promise.all([strict.close(), names.close()]);
  });

  it('a refusing or hanging proxy counts neither as an attempt nor as a failure', async () => {
    const deliverer = createDeliverer(sender);
    const row = await event(`${receiver.url}/hook`);
    for (const mood of [407, 403, 'hang'] as const) {
      proxy.behave(mood);
      await deliverer.deliverDue(row.receiverId);
      await deliverer.drain();
      expect(await stored(row), String(mood)).to.include({ state: 'due', attemptCount: 0, scheduleStep: 0 });
      const { matchedCount } = await deliveries.updateOne(
        { _id: row._id, leaseToken: null, nextAttemptAt: { $gt: new Date() } },
        { $set: { nextAttemptAt: new Date() } },
      );
      expect(matchedCount, `${mood}: rescheduled`).to.equal(1);
    }
    const health = await receivers.findOne({ _id: row.receiverId });
    expect(health?.failures ?? 0).to.equal(0);
    expect(health?.openUntil ?? null).to.equal(null);
    proxy.behave('serve');
    await deliverer.deliverDue(row.receiverId);
    await deliverer.drain();
    expect(await stored(row)).to.include({ state: 'delivered', attemptCount: 1 });
  });

  it('an unreachable receiver counts as an attempt, but its health does not change', async () => {
    const deliverer = createDeliverer(sender);
    const row = await event(`http://127.0.0.1:${await findFreePort()}/hook`);
    await deliverer.deliverDue(row.receiverId);
    await deliverer.drain();
    const after = await stored(row);
    expect(after).to.include({ state: 'due', attemptCount: 1 });
    expect(after.attempts[0]?.error).to.equal('no connection (our proxy returned 502)');
    expect(await receivers.findOne({ _id: row.receiverId })).to.equal(null);
  });

  it('a process uses WEBHOOK_PROXY_URL, verifies TLS names and logs no password', async function () {
    requireTool(this, 'openssl');
    const directory = await mkdtemp(join(tmpdir(), 'proxy-'));
    const [good, other] = await Promise.all([
      startTlsReceiver(directory, 'localhost'),
      startTlsReceiver(directory, 'other.example'),
    ]);
    let worker: RunningProgram | null = null;
    try {
      const start = (proxyUrl: string) =>
        startProgram('workers/run.js', ['webhooks'], {
          ...process.env,
          WEBHOOK_PROXY_URL: proxyUrl,
          NODE_EXTRA_CA_CERTS: join(directory, 'ca.crt'),
        });
      worker = await start(proxy.url);
      const before = proxy.targets.length;
      const rows = [
        await event(`https://localhost:${good.port}/hook`),
        await event(`https://localhost:${other.port}/hook`),
      ] as const;
      await announceDeliveries(rows);
      await eventually(
        'the matching name is delivered',
        async () => (await stored(rows[0])).state === 'delivered',
      );
      await eventually('the other name is refused', async () => (await stored(rows[1])).attemptCount === 1);
      expect((await stored(rows[1])).attempts[0]?.error).to.equal('TLS certificate is for another host name');
      expect(good.servernames).to.deep.equal(['localhost']);
      expect(
        proxy.targets.slice(before).filter((target) => !/^(127\.0\.0\.1|\[::1\]):\d+$/.test(target)),
      ).to.deep.equal([]);

      proxy.behave(407);
      const late = await Promise.all(
        [await findFreePort(), await findFreePort()].map((port) => event(`https://localhost:${port}/`)),
      );
      await announceDeliveries(late);
      const line = 'webhook proxy is unavailable';
      const printed = () => worker?.output() ?? '';
      await eventually('both deliveries are tried', () => proxy.targets.length >= before + 4);
      await eventually('the worker logs it', () => printed().includes(line));
      expect(printed().split(line), 'log lines: one per minute and code').to.have.length(2);
      expect(printed()).to.contain('"code":"HTTP_407"');
      expect(printed()).not.to.contain(proxyPassword).and.not.to.contain(decodeURIComponent(proxyPassword));
    } finally {
      await worker?.stop();
      await Promise.all([good.close(), other.close(), rm(directory, { recursive: true })]);
    }
  });

  it('accepts only a proxy address as setting, and prints no password', () => {
    const read = (value: string) => parseEnv({ ...process.env, WEBHOOK_PROXY_URL: value }).WEBHOOK_PROXY_URL;
    expect(read('')).to.equal(null);
    expect(read('http://user:pass@proxy.example:3128')).to.equal('http://user:pass@proxy.example:3128');
    expect(read('https://proxy.example')).to.equal('https://proxy.example');
    const mistakeOf = (value: string) => {
      try {
        return read(value) ?? '';
      } catch (error) {
        return String(error);
      }
    };
    for (const wrong of [
      'proxy:3128',
      'socks5://u:geheim@proxy.example',
      'http://u:geheim@proxy.example/path',
    ]) {
      expect(mistakeOf(wrong), wrong)
        .to.contain('"WEBHOOK_PROXY_URL" must be http')
        .and.not.contain('geheim');
    }
  });
});

/**
 * Starts a TLS receiver.
 * @param directory Contains ca.crt, the certificate of the authority.
 * @param name The host name in the receiver's certificate.
 */
async function startTlsReceiver(directory: string, name: string) {
  const run = (command: string) =>
    execFileSync('openssl', command.split(' '), { cwd: directory, stdio: 'ignore' });
  const newKey = '-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes';
  if (!(await readFile(join(directory, 'ca.crt')).catch(() => null))) {
    run(`req -x509 ${newKey} -keyout ca.key -out ca.crt -days 2 -subj /CN=test-ca`);
  }
  await writeFile(join(directory, `${name}.san`), `subjectAltName=DNS:${name}\n`);
  run(`req ${newKey} -keyout ${name}.key -out ${name}.csr -subj /CN=${name}`);
  run(
    `x509 -req -in ${name}.csr -CA ca.crt -CAkey ca.key -CAcreateserial -out ${name}.crt -days 2 -extfile ${name}.san`,
  );
  const [key, cert] = await Promise.all([
    readFile(join(directory, `${name}.key`)),
    readFile(join(directory, `${name}.crt`)),
  ]);
  const servernames: string[] = [];
  const server = createServer({ key, cert }, (request, response) => {
    request.resume().on('end', () => response.end('{"status":"received"}'));
  });
  server.on('secureConnection', (socket) => servernames.push(String(socket.servername)));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    servernames,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
