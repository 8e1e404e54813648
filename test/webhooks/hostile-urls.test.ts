import { createServer, type AddressInfo, type Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { judgeResponse } from '../../src/webhooks/deliver/judge-response.js';
import { createSender, type Sender } from '../../src/webhooks/deliver/send-request.js';
import { resolveByDns } from '../../src/shared/outgoing/resolve-host.js';
import { createUrlGuard } from '../../src/webhooks/deliver/url-guard.js';
import { webhookLimits } from '../../src/webhooks/webhook-limits.js';
import { sizes } from '../support/sizes.js';
import { startNameServer, type TestNameServer } from './support/name-server.js';
import { startReceiver, type Behaviour } from './support/receiver.js';

const publicAddress = '93.184.215.14';

/** Starts a server that counts every connection, even one without a request. */
async function startCanary() {
  let connections = 0;
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('data', () => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n'));
  });
  await new Promise<void>((resolve) => server.listen(0, '::', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    connections: () => connections,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        sockets.forEach((socket) => socket.destroy());
      }),
  };
}

/** Hosts that are refused because of their text, without a DNS query. */
const writtenHosts = [
  '127.0.0.1',
  '127.1',
  '127.0.1',
  '127.255.255.254',
  '127.1.2.3',
  '2130706433',
  '0x7f000001',
  '0x7f.0.0.1',
  '0177.0.0.1',
  '017700000001',
  '127.0.0.1.',
  '%31%32%37.0.0.1',
  '１２７.０.０.１',
  '①②⑦.⓪.⓪.①',
  '127。0。0。1',
  '0',
  '0.0.0.0',
  '0.1.2.3',
  '10.0.0.1',
  '10.255.255.255',
  '172.16.0.1',
  '172.31.255.1',
  '192.168.0.1',
  '192.168.1.254',
  '169.254.169.254',
  '0xa9fea9fe',
  '169.254.170.2',
  '100.64.0.1',
  '100.100.100.200',
  '168.63.129.16',
  '192.0.0.192',
  '192.0.2.1',
  '198.18.0.1',
  '198.51.100.1',
  '203.0.113.1',
  '224.0.0.1',
  '239.255.255.250',
  '240.0.0.1',
  '255.255.255.255',
  '[::]',
  '[::1]',
  '[0:0:0:0:0:0:0:1]',
  '[::127.0.0.1]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[::ffff:0:127.0.0.1]',
  '[::ffff:169.254.169.254]',
  '[64:ff9b::127.0.0.1]',
  '[64:ff9b:1::a00:1]',
  '[2002:7f00:1::]',
  '[2001:0:7f00:1::1]',
  '[fe80::1]',
  '[fec0::1]',
  '[fc00::1]',
  '[fd00:ec2::254]',
  '[ff02::1]',
  '[100::1]',
  '[2001:db8::1]',
  'localhost',
  'LOCALHOST',
  'localhost.',
  'shop.localhost',
  'redis',
  'metadata',
];

/** Public names that resolve to private addresses. */
const zone = {
  'private.hostile.test': () => ['127.0.0.1'],
  'ten.hostile.test': () => ['10.1.2.3'],
  'metadata.hostile.test': () => ['169.254.169.254'],
  'six.hostile.test': () => ['::1'],
  'mapped.hostile.test': () => ['::ffff:7f00:1'],
  'ula.hostile.test': () => ['fd00::1'],
  'mixed.hostile.test': () => [publicAddress, '127.0.0.1'],
  'both.hostile.test': () => [publicAddress, '::1'],
  'nowhere.hostile.test': () => [],
  'silent.hostile.test': () => null,
};
const rebinding = { 'rebind.hostile.test': (asked: number) => [asked === 1 ? publicAddress : '127.0.0.1'] };

describe('hostile URLs', () => {
  let canary: Awaited<ReturnType<typeof startCanary>>;
  let names: TestNameServer;
  let strict: Sender;
  let open: Sender;
  const guardOf = (allowPrivate: boolean) =>
    createUrlGuard({
      allowPrivate,
      ...(!allowPrivate && { resolve: (name: string) => resolveByDns(names.resolver, name) }),
    });

  before(async () => {
    [canary, names] = await Promise.all([startCanary(), startNameServer({ ...zone, ...rebinding })]);
    strict = createSender(guardOf(false));
    open = createSender(guardOf(true));
  });
  after(async () => {
    await Promise.all([strict.close(), open.close(), canary.close(), names.close()]);
  });

  const send = (sender: Sender, url: string) => sender.send({ url, headers: {}, body: '{}' });

  it('the canary sees allowed connections', async () => {
    const before = canary.connections();
    const result = await send(open, `http://127.0.0.1:${canary.port}/`);
    expect(judgeResponse(result, false).outcome).to.equal('delivered');
    await send(open, `http://localhost:${canary.port}/`);
    expect(canary.connections()).to.equal(before + 2);
  });

  it('refuses every form of a private address when saved and when called', async () => {
    const before = canary.connections();
    const own = Object.values(networkInterfaces())
      .flatMap((each) => each ?? [])
      .filter(({ family }) => family === 'IPv4')
      .map(({ address }) => address);
    const guard = guardOf(false);
    const urls = [
      ...[...writtenHosts, ...own, ...Object.keys(zone)].map((host) => `https://${host}:${canary.port}/x`),
      `http://${publicAddress}/`,
      `https://user:pass@${publicAddress}/`,
      `https://${publicAddress}@127.0.0.1:${canary.port}/`,
      `https://${publicAddress}:22/`,
      `https://${publicAddress}:25/`,
      'ftp://example.com/',
      'file:///etc/passwd',
      'gopher://127.0.0.1:6379/_FLUSHALL',
      'data:text/plain,x',
      'javascript:alert(1)',
      '//127.0.0.1/',
      'https://',
      `https://example.com/${'a'.repeat(2_048)}`,
    ];
    expect(urls.length).to.be.at.least(80);
    await Promise.all(
      urls.map(async (url) => {
        expect((await guard.problemWhenSaved(url))?.en, `saving ${url}`).to.be.a('string');
        const result = await send(strict, url);
        expect(result.kind, `calling ${url}`).to.be.oneOf(
          /nowhere|silent/.test(url) ? ['failed', 'timeout'] : ['blocked'],
        );
      }),
    );
    expect(canary.connections()).to.equal(before);
  });

  it('blocks at connection time a name whose address changed after it was saved', async () => {
    const before = canary.connections();
    const url = `https://rebind.hostile.test:${canary.port}/`;
    expect(await guardOf(false).problemWhenSaved(url)).to.equal(null);
    const results = await Promise.all([send(strict, url), send(strict, url), send(strict, url)]);
    expect(results.map((result) => result.kind)).to.deep.equal(['blocked', 'blocked', 'blocked']);
    expect(canary.connections()).to.equal(before);
  });

  it('allows a public address in any form', () => {
    const guard = guardOf(false);
    for (const host of [
      publicAddress,
      '1572395022',
      'example.com',
      '[2606:2800:21f:cb07:6820:80da:af6b:8b2c]',
    ]) {
      expect(guard.problemOf(`https://${host}/hook?x=1`), host).to.equal(null);
      expect(guard.problemOf(`https://${host}:8443/`), host).to.equal(null);
    }
  });

  it('treats redirects as failures and does not follow them', async () => {
    const before = canary.connections();
    for (const status of [301, 302, 303, 307, 308]) {
      const receiver = await startReceiver((_request, response) => {
        response.writeHead(status, { location: `http://127.0.0.1:${canary.port}/` }).end();
      });
      const verdict = judgeResponse(await send(open, receiver.url), false);
      expect(verdict.outcome).to.equal('failed');
      expect(verdict.error).to.match(/redirects are not followed/);
      await receiver.close();
    }
    expect(canary.connections()).to.equal(before);
  });

  const megabyte = Buffer.alloc(1_048_576, 0x20);
  const endless =
    (status: number, headers: Record<string, string> = {}): Behaviour =>
    (_request, response) => {
      response.writeHead(status, headers);
      const write = () => {
        while (!response.destroyed && response.write(megabyte)) {
          // Write as fast as the receiver reads.
        }
      };
      response.on('drain', write).on('error', () => undefined);
      write();
    };

  it('cuts off 200 endless or compressed responses at 64 kB each, in bounded memory', async () => {
    const bomb = gzipSync(Buffer.alloc(50_000_000));
    const behaviours: { behave: Behaviour; outcome: string }[] = [
      { behave: endless(200), outcome: 'delivered' },
      { behave: endless(500), outcome: 'failed' },
      { behave: endless(200, { 'content-encoding': 'gzip' }), outcome: 'delivered' },
      {
        behave: (_request, response) =>
          response.writeHead(200, { 'content-encoding': 'gzip', 'content-length': bomb.length }).end(bomb),
        outcome: 'delivered',
      },
      {
        behave: (_request, response) => {
          response.socket?.write(`HTTP/1.1 200 OK\r\nx: ${'a'.repeat(1_000_000)}\r\n\r\n`);
        },
        outcome: 'failed',
      },
    ];
    global.gc?.();
    const rssBefore = process.memoryUsage().rss;
    let rssMax = rssBefore;
    const watch = setInterval(() => (rssMax = Math.max(rssMax, process.memoryUsage().rss)), 20);
    for (const { behave, outcome } of behaviours) {
      const receiver = await startReceiver(behave);
      const results = await Promise.all(Array.from({ length: 40 }, () => send(open, receiver.url)));
      for (const result of results) {
        expect(judgeResponse(result, false).outcome).to.equal(outcome);
        if (result.kind === 'answered') {
          expect(result.answer.length).to.be.at.most(webhookLimits.answerReadBytes);
        }
      }
      await receiver.close();
    }
    clearInterval(watch);
    // The senders of endless responses run in this process, so the figure includes their socket
    // buffers.
    expect((rssMax - rssBefore) / 1_048_576, 'MB of growth').to.be.below(300);
  });

  it('blocks cloud metadata addresses even if private addresses are allowed', async () => {
    const guard = createUrlGuard({
      allowPrivate: true,
      resolve: () => [Promise.resolve([{ address: '169.254.169.254', family: 4 }])],
    });
    for (const host of [
      '169.254.169.254',
      '[fe80::1]',
      '[::ffff:169.254.169.254]',
      '[fd00:ec2::254]',
      '100.100.100.200',
    ]) {
      expect(guard.problemOf(`http://${host}:8080/latest`)?.en, host).to.include('private or reserved');
    }
    expect(guard.problemOf('http://127.0.0.1:8080/')).to.equal(null);
    const sender = createSender(guard);
    expect(await send(sender, 'http://metadata.test:8080/')).to.include({ kind: 'blocked' });
    await sender.close();
  });

  it('disconnects a slow or silent receiver at the deadline @sized', async () => {
    const drip =
      (start: string): Behaviour =>
      (_request, response) => {
        response.socket?.write(start);
        const timer = setInterval(() => response.socket?.write('a'), 200);
        response.socket?.on('close', () => clearInterval(timer)).on('error', () => undefined);
      };
    const receivers = await Promise.all(
      [
        drip('HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n'),
        drip('HTTP/1.1 200 OK\r\nx-slow: '),
        drip(''),
        (() => undefined) as Behaviour,
      ].map((behave) => startReceiver(behave)),
    );
    const deadlineMs = sizes.hostileUrls.deadlineMs ?? webhookLimits.totalTimeoutMs;
    const sender = createSender(guardOf(true), { totalTimeoutMs: deadlineMs });
    const startedMs = performance.now();
    const results = await Promise.all(receivers.map(({ url }) => send(sender, url)));
    const tookMs = performance.now() - startedMs;
    // The third response is not HTTP, so it fails immediately.
    expect(results.map((result) => result.kind)).to.deep.equal(['timeout', 'timeout', 'failed', 'timeout']);
    expect(tookMs).to.be.within(deadlineMs - 50, deadlineMs + 1_000);
    await Promise.all(receivers.map((receiver) => receiver.close()));
    await sender.close();
  });
});
