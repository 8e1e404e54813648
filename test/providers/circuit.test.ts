import { expect } from 'chai';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  getHeartbeatsKey,
  circuitRules,
  readCircuits,
  closeCircuit,
  getInFlightKey,
  openCircuit,
  getProbeKey,
  recordCall,
  takeProbe,
} from '../../src/providers/circuit.js';
import { admitOrder } from '../../src/providers/admission.js';
import { nowMs, setClock } from '../../src/shared/clock.js';
import { newId } from '../../src/shared/ids.js';
import { connectRedis, redis } from '../../src/redis/connection.js';
import { eventually } from '../support/eventually.js';
import { forkTestProgram } from '../support/fork-test-program.js';
import { buildEnvWithClockAhead } from '../support/wrong-clock.js';
import type { CircuitOrder } from './circuit-process.js';

let offsetMs = 0;

/** Moves the clock forward by `ms`. The clock continues from that time. */
function advanceClock(ms: number): void {
  offsetMs += ms;
  setClock(() => Date.now() + offsetMs);
}

async function record(sellerId: string, count: number, call: { failed?: boolean; slow?: boolean } = {}) {
  const { failed = false, slow = false } = call;
  for (let index = 0; index < count; index++) {
    await recordCall(sellerId, { failed, slow, served: !failed, startedAt: nowMs(), durationMs: 10 });
  }
}

async function stateOf(sellerId: string): Promise<string | undefined> {
  // Circuit states are cached for 200 ms.
  advanceClock(250);
  return (await readCircuits([sellerId])).get(sellerId)?.state;
}

describe('provider circuits', () => {
  before(async () => {
    redis();
    await connectRedis();
  });
  afterEach(() => {
    offsetMs = 0;
    setClock(null);
  });

  it('stay closed below 20 calls and open at the 20th when half of them failed', async () => {
    const seller = newId();
    await record(seller, 9);
    await record(seller, 10, { failed: true });
    expect(await stateOf(seller)).to.equal('closed');
    await record(seller, 1);
    expect(await stateOf(seller)).to.equal('open');
  });

  it('stay closed when fewer than half failed, and ignore calls older than 30 s', async () => {
    const seller = newId();
    await record(seller, 11);
    await record(seller, 9, { failed: true });
    expect(await stateOf(seller)).to.equal('closed');
    advanceClock(31_000);
    await record(seller, 10, { failed: true });
    expect(await stateOf(seller), '10 calls in the window').to.equal('closed');
  });

  it('open after 20 failures in a row, despite earlier successes within 30 s', async () => {
    const seller = newId();
    await record(seller, 200);
    await record(seller, 19, { failed: true });
    await record(seller, 1);
    await record(seller, 19, { failed: true });
    expect(await stateOf(seller), 'failures interrupted by a success').to.equal('closed');
    advanceClock(60_000);
    await record(seller, 1, { failed: true });
    expect(await stateOf(seller), 'slow failures in a row').to.equal('open');
    await closeCircuit(seller);
    await record(seller, 1, { failed: true });
    expect(await stateOf(seller), 'after a manual close').to.equal('closed');
  });

  it('open when more than one call in twenty took the whole timeout', async () => {
    const seller = newId();
    await record(seller, 38);
    await record(seller, 2, { slow: true });
    expect(await stateOf(seller), '5 %').to.equal('closed');
    await record(seller, 1, { slow: true });
    expect(await stateOf(seller)).to.equal('open');
  });

  it('become half-open after 15 s, probe once a second, and close after 3 successes', async () => {
    const seller = newId();
    await record(seller, 20, { failed: true });
    advanceClock(circuitRules.openMs - 1_000);
    expect(await stateOf(seller)).to.equal('open');
    advanceClock(1_000);
    expect(await stateOf(seller)).to.equal('half-open');
    const probes = await Promise.all(Array.from({ length: 20 }, () => takeProbe(seller, 'send')));
    expect(probes.filter(Boolean)).to.have.length(1);
    expect(await takeProbe(seller, 'accept')).to.equal(true);
    await record(seller, circuitRules.probesToClose - 1);
    expect(await stateOf(seller)).to.equal('half-open');
    await record(seller, 1);
    expect(await stateOf(seller)).to.equal('closed');
  });

  it('reopen when a probe fails, and ignore results of calls from before the opening', async () => {
    const seller = newId();
    const beforeOpening = nowMs();
    await record(seller, 20, { failed: true });
    advanceClock(circuitRules.openMs + 1);
    const late = {
      failed: false,
      slow: false,
      served: true,
      startedAt: beforeOpening - 1,
      durationMs: 20_000,
    };
    for (let count = 0; count < 5; count++) {
      await recordCall(seller, late);
    }
    expect(await stateOf(seller), 'late answers to old calls').to.equal('half-open');
    await record(seller, 1, { failed: true });
    expect(await stateOf(seller)).to.equal('open');
  });

  it('open while 20 orders hang, before their timeout', async () => {
    const sellerId = newId();
    const connection = { sellerId, baseUrl: '', username: '', secret: '' };
    const how = { timeoutMs: 60_000, countsForCircuit: true };
    const sent = await Promise.all(Array.from({ length: 20 }, () => admitOrder(connection, how)));
    expect(await stateOf(sellerId)).to.equal('closed');
    await eventually('the circuit is open', async () => (await stateOf(sellerId)) === 'open');
    for (const turn of sent) {
      expect(turn).to.have.property('release');
      await ('release' in turn ? turn.release() : undefined);
    }
  });

  it('ignore calls in flight of a killed process', async () => {
    const sellerId = newId();
    const [seconds] = await redis().time();
    const dead = newId();
    const left = Array.from({ length: 40 }, (_, n) => [
      String(1_000 * Number(seconds) - 60_000 + n),
      `${dead}:${n}`,
    ]);
    await redis().zadd(getInFlightKey(sellerId, 'orders'), ...left.flat());
    // A live process sends heartbeats only for its own orders and not for those of the dead
    // process.
    const connection = { sellerId, baseUrl: '', username: '', secret: '' };
    const turn = await admitOrder(connection, { timeoutMs: 60_000, countsForCircuit: true });
    await eventually('a heartbeat', async () => (await redis().zcard(getHeartbeatsKey(sellerId))) === 1);
    expect(await stateOf(sellerId)).to.equal('closed');
    await ('release' in turn ? turn.release() : undefined);
  });

  it('allow one probe at a time while half-open, however long it takes', async () => {
    const seller = newId();
    const connection = { sellerId: seller, baseUrl: '', username: '', secret: '' };
    await record(seller, 20, { failed: true });
    advanceClock(circuitRules.openMs);
    expect(await takeProbe(seller, 'send')).to.equal(true);
    const turn = await admitOrder(connection, { timeoutMs: 60_000, countsForCircuit: true });
    expect(await redis().pttl(getProbeKey(seller, 'send')), 'ms, for the whole timeout').to.be.above(55_000);
    expect(await takeProbe(seller, 'send')).to.equal(false);
    await record(seller, 1);
    await ('release' in turn ? turn.release() : undefined);
    await eventually('the next probe is allowed', () => takeProbe(seller, 'send'), 5_000);
  });

  it('are the same for a process on a host that is ten minutes ahead', async () => {
    const child = forkTestProgram('test/providers/circuit-process', buildEnvWithClockAhead(600_000));
    try {
      await once(child, 'message');
      const seller = newId();
      expect(await sendOrder(child, { sellerId: seller, failures: 20 })).to.equal('open');
      expect(await stateOf(seller)).to.equal('open');
      advanceClock(circuitRules.openMs);
      expect(await stateOf(seller)).to.equal('half-open');
    } finally {
      child.kill();
    }
  });

  it('become half-open after 15 s although the clock was set back by an hour', async () => {
    const seller = newId();
    advanceClock(3_600_000);
    await openCircuit(seller, 'failing');
    advanceClock(-3_600_000);
    expect(await stateOf(seller)).to.equal('open');
    advanceClock(15_000);
    expect(await stateOf(seller)).to.equal('half-open');
  });

  it('open at once on a configuration fault, and close when the operator closes them', async () => {
    const seller = newId();
    await openCircuit(seller, 'configuration');
    expect(await stateOf(seller)).to.equal('open');
    await closeCircuit(seller);
    expect(await stateOf(seller)).to.equal('closed');
  });

  it('are shared by two processes: failures add up, and both see the circuit open', async () => {
    const child = forkTestProgram('test/providers/circuit-process');
    try {
      await once(child, 'message');
      const seller = newId();
      expect(await sendOrder(child, { sellerId: seller, failures: 10 })).to.equal('closed');
      await record(seller, 9, { failed: true });
      expect(await stateOf(seller)).to.equal('closed');
      expect(await sendOrder(child, { sellerId: seller, failures: 1 })).to.equal('open');
      expect(await stateOf(seller)).to.equal('open');
    } finally {
      child.kill();
    }
  });
});

async function sendOrder(child: ChildProcess, order: CircuitOrder): Promise<string> {
  child.send(order);
  const [answer] = (await once(child, 'message')) as [{ state: string }];
  return answer.state;
}
