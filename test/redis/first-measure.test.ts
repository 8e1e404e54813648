/** The Redis time that a process measures if it starts on a busy machine. */
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'chai';
import { forkTestProgram } from '../support/fork-test-program.js';

const lateMs = 800;

describe('first measurement of the fleet clock', () => {
  let server: Server;
  const sockets: Socket[] = [];
  let asked = 0;

  /** Starts a proxy to Redis that delays the first reply to `time`. */
  before(async () => {
    const { hostname, port } = new URL(process.env['REDIS_URL'] ?? '');
    server = createServer((inner) => {
      const outer = connect(Number(port), hostname);
      sockets.push(inner, outer);
      let isLate = false;
      inner.on('data', (chunk) => {
        if (chunk.includes("redis.call('time')")) {
          asked += 1;
          isLate = asked === 1;
        }
        outer.write(chunk);
      });
      outer.on('data', (chunk) => void wait(isLate ? lateMs : 0).then(() => inner.write(chunk)));
      inner.on('error', () => outer.destroy());
      outer.on('error', () => inner.destroy());
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  after(() => {
    sockets.forEach((each) => each.destroy());
    server.close();
  });

  it('ignores a late reply and uses the most precise one', async () => {
    const url = new URL(process.env['REDIS_URL'] ?? '');
    url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    const child = forkTestProgram('test/redis/clock-process', { ...process.env, REDIS_URL: url.toString() });
    try {
      const [told] = (await once(child, 'message')) as [{ nowMs: number; hostMs: number }];
      // Redis runs on this host, so both clocks agree. The delayed reply alone would cause an error
      // of half its delay.
      expect(told.nowMs - told.hostMs).to.be.within(-lateMs / 4, lateMs / 4);
    } finally {
      child.kill('SIGKILL');
    }
  });
});
