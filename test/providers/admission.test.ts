/** Rate limits per provider, shared by all processes, and bounded concurrency. */
import { expect } from 'chai';
import { once } from 'node:events';
import type { ProviderConnection } from '../../src/providers/adapter.js';
import { admissionWaitMaxMs, admitOrder, callWhenAdmitted } from '../../src/providers/admission.js';
import { getProbeKey } from '../../src/providers/circuit.js';
import { storePause } from '../../src/providers/pause.js';
import { env } from '../../config/env.js';
import { newId } from '../../src/shared/ids.js';
import { connectRedis, disconnectRedis, redis } from '../../src/redis/connection.js';
import { forkTestProgram } from '../support/fork-test-program.js';
import { aheadBy } from '../support/wrong-clock.js';
import type { AdmissionOrder } from './admission-process.js';

function connectionTo(limits: Partial<ProviderConnection>): ProviderConnection {
  return { sellerId: newId(), baseUrl: '', username: '', secret: '', ...limits };
}

describe('what a provider is asked at once', () => {
  before(async () => {
    redis();
    await connectRedis();
  });
  after(disconnectRedis);

  it('is never more than its concurrency; who waits gets the slot that becomes free', async () => {
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

  it('nothing is sent for a call that finds no slot in time, and its slot is not lost', async () => {
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

  it('an order that was not sent does not keep the next probe waiting, one that was does', async () => {
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

  it('a call that throws gives its slot back', async () => {
    const connection = connectionTo({ concurrency: 1 });
    const failed = await callWhenAdmitted(connection, () => Promise.reject(new Error('reset'))).catch(
      (error: unknown) => (error as Error).message,
    );
    expect(failed).to.equal('reset');
    expect(await callWhenAdmitted(connection, () => Promise.resolve('next'))).to.equal('next');
  });

  it('providers do not share slots', async () => {
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

describe('how often a provider is asked', () => {
  before(async () => {
    redis();
    await connectRedis();
  });
  after(disconnectRedis);

  it('is evenly spaced over two processes, and who would wait too long is told before anything is sent', async () => {
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
        // A timer may fire late, but early only by the rounding of a millisecond.
        expect(at - startMs, `call ${index}`).to.be.at.least((index * 1_000) / callsPerSecond - 2);
      }
      // Twenty calls of one process at once are two seconds of work, and nobody waits longer than one.
      expect(mine.filter((at) => at === null).length).to.be.at.least(20 - admissionWaitMaxMs / 100 - 1);
    } finally {
      child.kill();
    }
  });

  it('is the same for a process on a host that is a minute ahead, and for the others beside it', async () => {
    const connection = connectionTo({ callsPerSecond: 10 });
    const child = forkTestProgram('test/providers/admission-process', aheadBy(60_000));
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

  it('is nothing while it has asked for a pause, for whoever asks', async () => {
    const connection = connectionTo({});
    await storePause(connection.sellerId, 60_000);
    await storePause(connection.sellerId, 1_000);
    let sent = 0;
    expect(await callWhenAdmitted(connection, () => Promise.resolve((sent += 1)))).to.equal(null);
    const turn = await admitOrder(connection, { timeoutMs: 1_000, countsForCircuit: true });
    expect(turn).to.have.property('retryAfterMs').above(55_000);
    expect(sent).to.equal(0);
  });

  it('is half of what a process does at once when it does not answer questions', async () => {
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

  it('is not known while Redis is away: nothing is sent, and nobody waits for it', async () => {
    const connection = connectionTo({ callsPerSecond: 1_000 });
    await disconnectRedis();
    let sent = 0;
    expect(await callWhenAdmitted(connection, () => Promise.resolve((sent += 1)))).to.equal(null);
    expect(sent).to.equal(0);
    await connectRedis();
    expect(await callWhenAdmitted(connection, () => Promise.resolve('sent'))).to.equal('sent');
  });
});
