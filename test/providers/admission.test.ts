import { expect } from 'chai';
import { once } from 'node:events';
import type { ProviderConnection } from '../../src/providers/adapter.js';
import { admissionWaitMaxMs, admitOrder, callWhenAdmitted } from '../../src/providers/admission.js';
import { getInFlightKey, getProbeKey } from '../../src/providers/circuit.js';
import { storePause } from '../../src/providers/pause.js';
import { env } from '../../config/env.js';
import { newId } from '../../src/shared/ids.js';
import { connectRedis, disconnectRedis, redis } from '../../src/redis/connection.js';
import { eventually } from '../support/eventually.js';
import { forkTestProgram } from '../support/fork-test-program.js';
import { buildEnvWithClockAhead } from '../support/wrong-clock.js';
import type { AdmissionOrder } from './admission-process.js';

function connectionTo(limits: Partial<ProviderConnection>): ProviderConnection {
  return { sellerId: newId(), baseUrl: '', username: '', secret: '', ...limits };
}

describe('concurrency limit of a provider', () => {
  before(async () => {
    redis();
    await connectRedis();
  });
  after(disconnectRedis);

  it('never exceeds the limit, and a waiting call takes the next free slot', async () => {
    const connection = connectionTo({ concurrency: 2 });
    const open: (() => void)[] = [];
    let busy = 0;
    let most = 0;
    const call = async () => {
      busy += 1;
      most = Math.max(most, busy);
      await new Promise<void>((resolve) => open.push(resolve));
      busy -= 1;
      return 'done';
    };
    const all = Array.from({ length: 6 }, () => callWhenAdmitted(connection, call));
    const release = setInterval(() => open.shift()?.(), 5);
    expect(await Promise.all(all)).to.deep.equal(Array(6).fill('done'));
    clearInterval(release);
    expect(most).to.equal(2);
  });

  it('sends nothing for a call that gets no slot in time, and does not lose the slot', async () => {
    const connection = connectionTo({ concurrency: 1 });
    let finish = () => {};
    const first = callWhenAdmitted(
      connection,
      () => new Promise<string>((resolve) => (finish = () => resolve('first'))),
    );
    let sent = 0;
    const late = await callWhenAdmitted(connection, () => Promise.resolve((sent += 1)));
    expect(late).to.equal(null);
    expect(sent).to.equal(0);
    finish();
    expect(await first).to.equal('first');
    expect(await callWhenAdmitted(connection, () => Promise.resolve('next'))).to.equal('next');
  });

  it('keeps the probe key only for an order that was sent', async () => {
    const left = async (how: { sent: boolean }) => {
      const connection = connectionTo({});
      const key = getProbeKey(connection.sellerId, 'send');
      await redis().set(key, '1', 'PX', 1_000);
      const turn = await admitOrder(connection, { timeoutMs: 30_000, countsForCircuit: true });
      expect(await redis().pttl(key)).to.be.greaterThan(30_000);
      await ('release' in turn && turn.release(how));
      return redis().pttl(key);
    };
    expect(await left({ sent: false })).to.be.within(0, 1_000);
    expect(await left({ sent: true })).to.be.greaterThan(30_000);
  });

  it('releases the slot of a call that throws', async () => {
    const connection = connectionTo({ concurrency: 1 });
    const failed = await callWhenAdmitted(connection, () => Promise.reject(new Error('reset'))).catch(
      (error: unknown) => (error as Error).message,
    );
    expect(failed).to.equal('reset');
    expect(await callWhenAdmitted(connection, () => Promise.resolve('next'))).to.equal('next');
  });

  it('keeps separate slots for each provider', async () => {
    let finish = () => {};
    const slow = callWhenAdmitted(
      connectionTo({ concurrency: 1 }),
      () => new Promise<void>((resolve) => (finish = resolve)),
    );
    expect(await callWhenAdmitted(connectionTo({ concurrency: 1 }), () => Promise.resolve('other'))).to.equal(
      'other',
    );
    finish();
    await slow;
  });
});

describe('rate limit of a provider', () => {
  before(async () => {
    redis();
    await connectRedis();
  });
  after(disconnectRedis);

  it('spaces calls over two processes and sends none that would wait too long', async () => {
    const callsPerSecond = 10;
    const connection = connectionTo({ callsPerSecond, concurrency: 100 });
    const child = forkTestProgram('test/providers/admission-process');
    try {
      await once(child, 'message');
      const startMs = Date.now();
      child.send({ connection, calls: 20 } satisfies AdmissionOrder);
      const [mine, [theirs]] = await Promise.all([
        Promise.all(
          Array.from({ length: 20 }, () => callWhenAdmitted(connection, () => Promise.resolve(Date.now()))),
        ),
        once(child, 'message') as Promise<[{ begun: (number | null)[] }]>,
      ]);
      const all = [...mine, ...theirs.begun];
      const begun = all.filter((at) => at !== null).sort((a, b) => a - b);
      expect(begun.length).to.be.at.least(2);
      for (const [index, at] of begun.entries()) {
        // A timer may fire late. It may also fire early, but only by the rounding to a millisecond.
        expect(at - startMs, `call ${index}`).to.be.at.least((index * 1_000) / callsPerSecond - 2);
      }
      // Twenty calls of one process need two seconds. A call that would wait longer than
      // `admissionWaitMaxMs` is not made.
      expect(mine.filter((at) => at === null).length).to.be.at.least(20 - admissionWaitMaxMs / 100 - 1);
    } finally {
      child.kill();
    }
  });

  it('admits calls from a host whose clock is a minute ahead, and from other hosts', async () => {
    const connection = connectionTo({ callsPerSecond: 10 });
    const child = forkTestProgram('test/providers/admission-process', buildEnvWithClockAhead(60_000));
    try {
      await once(child, 'message');
      child.send({ connection, calls: 3 } satisfies AdmissionOrder);
      const [{ begun }] = (await once(child, 'message')) as [{ begun: (number | null)[] }];
      expect(begun.filter((at) => at === null)).to.have.length(0);
      expect(await callWhenAdmitted(connection, () => Promise.resolve('sent'))).to.equal('sent');
    } finally {
      child.kill();
    }
  });

  it('delays calls by at most seconds after the clock of Redis was set back', async () => {
    const connection = connectionTo({ callsPerSecond: 10 });
    const { sellerId } = connection;
    const hourMs = 3_600_000;
    const flights = getInFlightKey(sellerId, 'orders');
    await redis().set(`${env.QUEUE_PREFIX}:pace:{${sellerId}}`, String(Date.now() + hourMs), 'PX', hourMs);
    await redis().zadd(flights, Date.now() + hourMs, 'process:killed');
    const admit = () => admitOrder(connection, { timeoutMs: 1_000, countsForCircuit: true });
    const turn = await eventually(
      'a call is admitted',
      async () => {
        const askedAtMs = Date.now();
        const asked = await admit();
        return 'release' in asked && { ...asked, askedAtMs };
      },
      10_000,
    );
    // The orders of killed processes expire.
    expect(Number(await redis().zscore(flights, 'process:killed'))).to.be.at.most(Date.now());
    for (const each of [turn, await admit()]) {
      if ('release' in each) {
        await each.release();
      }
    }
    // The limit still applies.
    expect(Date.now() - turn.askedAtMs).to.be.at.least(98);
  });

  it('admits no call during a pause, even after a shorter pause is stored', async () => {
    const connection = connectionTo({});
    await storePause(connection.sellerId, 60_000);
    await storePause(connection.sellerId, 1_000);
    let sent = 0;
    expect(await callWhenAdmitted(connection, () => Promise.resolve((sent += 1)))).to.equal(null);
    const turn = await admitOrder(connection, { timeoutMs: 1_000, countsForCircuit: true });
    expect(turn).to.have.property('retryAfterMs').above(55_000);
    expect(sent).to.equal(0);
  });

  it("gives an unresponsive provider at most half of a process's concurrency", async () => {
    const connection = connectionTo({});
    let finish = () => {};
    const hanging = new Promise<void>((resolve) => (finish = resolve));
    const asked = Array.from({ length: env.FULFILMENT_CONCURRENCY }, () =>
      callWhenAdmitted(connection, () => hanging),
    );
    const refused = await Promise.race(asked);
    expect(refused).to.equal(null);
    expect(await callWhenAdmitted(connectionTo({}), () => Promise.resolve('other'))).to.equal('other');
    finish();
    const answers = await Promise.all(asked);
    expect(answers.filter((each) => each === null)).to.have.length(
      Math.floor(env.FULFILMENT_CONCURRENCY / 2),
    );
  });

  it('admits nothing, without waiting, while Redis is unreachable', async () => {
    const connection = connectionTo({ callsPerSecond: 1_000 });
    await disconnectRedis();
    let sent = 0;
    expect(await callWhenAdmitted(connection, () => Promise.resolve((sent += 1)))).to.equal(null);
    expect(sent).to.equal(0);
    await connectRedis();
    expect(await callWhenAdmitted(connection, () => Promise.resolve('sent'))).to.equal('sent');
  });
});
