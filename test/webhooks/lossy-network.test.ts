/** Receivers on networks without IPv6, and behind resolvers that drop AAAA queries. */
import { expect } from 'chai';
import { resolveByDns } from '../../src/shared/outgoing/resolve-host.js';
import { createSender, type Sender } from '../../src/webhooks/deliver/send-request.js';
import { createUrlGuard } from '../../src/webhooks/deliver/url-guard.js';
import { startStoppedServer } from '../support/stopped-server.js';
import { startNameServer, type TestNameServer } from './support/name-server.js';
import { startReceiver, type TestReceiver } from './support/receiver.js';

describe('webhooks on a lossy network', () => {
  let names: TestNameServer;
  let receiver: TestReceiver;
  let sender: Sender;

  before(async () => {
    receiver = await startReceiver();
    names = await startNameServer(
      {
        'drops-aaaa.test': (_asked, family) => (family === 6 ? null : ['127.0.0.1']),
        'drops-a.test': (_asked, family) => (family === 4 ? null : ['::ffff:7f00:1']),
        'drops-all.test': () => null,
        // Nothing listens on ::1, as on a host without IPv6.
        'both.test': () => ['127.0.0.1', '::1'],
        'mixed.test': (_asked, family) => (family === 4 ? ['127.0.0.1'] : ['fd00:ec2::254']),
      },
      // As the product sets them.
      { timeout: 1_500, tries: 2 },
    );
    const resolve = (name: string) => resolveByDns(names.resolver, name);
    sender = createSender(createUrlGuard({ allowPrivate: true, resolve }));
  });
  after(() => Promise.all([sender.close(), names.close(), receiver.close()]));

  const send = async (host: string, port = new URL(receiver.url).port) => {
    const startedMs = performance.now();
    const result = await sender.send({ url: `http://${host}:${port}/`, headers: {}, body: '{}' });
    return { result, tookMs: performance.now() - startedMs };
  };

  for (const host of ['drops-aaaa.test', 'drops-a.test']) {
    it(`${host}: the other family is used after 50 ms`, async () => {
      const { result, tookMs } = await send(host);
      expect(result).to.include({ kind: 'answered', httpStatus: 200 });
      expect(tookMs).to.be.below(1_000);
    });
  }

  it('a name without any answer fails after 5 s', async () => {
    const { result, tookMs } = await send('drops-all.test');
    expect(result)
      .to.have.property('error')
      .that.matches(/could not be resolved in time/);
    expect(tookMs).to.be.below(6_000);
  });

  it('one lost packet is not a failed attempt, although IPv6 is unreachable', async () => {
    const stopped = await startStoppedServer();
    try {
      const sent = send('both.test', String(stopped.port));
      setTimeout(() => stopped.resume(), 400);
      expect((await sent).result).to.include({ kind: 'answered', httpStatus: 200 });
    } finally {
      await stopped.close();
    }
  });

  it('blocks a name if only one family has a forbidden address', async () => {
    expect((await send('mixed.test')).result).to.include({ kind: 'blocked' });
  });

  it('an attempt ends within its total time even without a connection', async () => {
    const stopped = await startStoppedServer();
    const hasty = createSender(createUrlGuard({ allowPrivate: true }), { totalTimeoutMs: 400 });
    try {
      const url = `http://127.0.0.1:${stopped.port}/`;
      const startedMs = performance.now();
      expect(await hasty.send({ url, headers: {}, body: '{}' })).to.deep.equal({
        kind: 'timeout',
        httpStatus: null,
        error: 'no connection within 0.4 s',
      });
      expect(performance.now() - startedMs).to.be.below(2_000);
    } finally {
      await stopped.close();
      await hasty.close();
    }
  });
});
