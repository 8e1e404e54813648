import { expect } from 'chai';
import { startSimulator, type RunningSimulator } from '../support/simulator.js';
import { call, newRef, outcome } from './call-simulator.js';

describe('simulator: faults set by /control', () => {
  let simulator: RunningSimulator;
  beforeEach(async () => {
    simulator = await startSimulator();
  });
  afterEach(() => simulator.stop());

  it('names each invalid setting and changes nothing', async () => {
    const wrong = { latency_ms: '5', refuse_rate: 2, colour: 'red', down: true };
    const response = await fetch(`${simulator.url}/control`, { method: 'POST', body: JSON.stringify(wrong) });
    expect(response.status).to.equal(400);
    expect(await response.text())
      .to.include('latency_ms')
      .and.include('refuse_rate')
      .and.include('colour');
    expect(await simulator.control({})).to.include({ latency_ms: 0, refuse_rate: 0, down: false });
  });

  it('shows settings without the callback secret and resets on DELETE', async () => {
    const shown = await simulator.control({
      latency_ms: 7,
      callback_secret: 'hush',
      providers: { a: { down: true } },
    });
    expect(shown).to.deep.include({
      latency_ms: 7,
      callback_secret: '(set)',
      providers: { a: { down: true } },
    });
    expect(JSON.stringify(shown)).not.to.include('hush');
    expect((await simulator.control({ providers: { a: null } })).providers).to.deep.equal({});
    const cleared = await fetch(`${simulator.url}/control`, { method: 'DELETE' });
    expect(await cleared.json()).to.include({ latency_ms: 0, callback_secret: null });
  });

  it('delays responses by the latency, after the execution', async () => {
    await simulator.control({ latency_ms: 1_000 });
    const order = { ref_id: newRef() };
    const startedAt = performance.now();
    const answer = call(simulator, '/request', order);
    while ((await simulator.log({ ref_id: order.ref_id })).length === 0) {
      expect(performance.now() - startedAt, 'ms until the execution').to.be.lessThan(1_000);
    }
    expect(await answer).to.include({ status: '00' });
    expect(performance.now() - startedAt).to.be.greaterThan(995);
  });

  it('is down for one provider only and executes nothing for it', async () => {
    const order = { username: 'a', ref_id: newRef() };
    await call(simulator, '/request', order);
    await simulator.control({ providers: { a: { down: true } } });
    const outcomes = [
      await outcome(simulator, '/request', order),
      await outcome(simulator, '/request', { username: 'a' }),
    ];
    expect(outcomes).to.deep.equal(['HTTP 503', 'no answer']);
    expect(await call(simulator, '/request', { username: 'b' })).to.include({ status: '00' });
    expect(await simulator.log({ provider: 'a' })).to.have.lengthOf(1);
    await simulator.control({ providers: { a: { down: false } } });
    expect(await call(simulator, '/request', order)).to.include({ status: '00' });
  });

  it('refuses the configured share of new orders consistently', async () => {
    await simulator.control({ providers: { a: { refuse_rate: 0.2 } } });
    const refs = Array.from({ length: 500 }, newRef);
    const ask = () =>
      Promise.all(refs.map((ref_id) => outcome(simulator, '/request', { username: 'a', ref_id })));
    const first = await ask();
    const refused = first.filter((status) => status === '01').length;
    expect(refused).to.be.within(60, 140);
    expect(first.filter((status) => status === '00')).to.have.lengthOf(500 - refused);
    expect(await ask()).to.deep.equal(first);
    expect(await simulator.log({ provider: 'a' })).to.have.lengthOf(500 - refused);
  });

  it('executes the configured share of orders without a response', async () => {
    await simulator.control({ providers: { a: { timeout_after_execute_rate: 0.1 } } });
    const refs = Array.from({ length: 300 }, newRef);
    const ask = () =>
      Promise.all(refs.map((ref_id) => outcome(simulator, '/request', { username: 'a', ref_id })));
    const silent = (await ask()).filter((status) => status === 'no answer').length;
    expect(silent).to.be.within(10, 60);
    expect(new Set(await ask())).to.deep.equal(new Set(['00']));
    expect(await simulator.log({ provider: 'a' })).to.have.lengthOf(300);
  });

  it('fails the configured share of calls and never executes an order twice', async () => {
    await simulator.control({ fault_rate: 1 });
    const refs = Array.from({ length: 60 }, newRef);
    const ask = () => Promise.all(refs.map((ref_id) => outcome(simulator, '/request', { ref_id })));
    expect(new Set(await ask())).to.deep.equal(new Set(['HTTP 503', 'no answer']));
    const executedWithoutAnswer = (await simulator.log()).length;
    expect(executedWithoutAnswer).to.be.within(5, 40);
    await simulator.control({ fault_rate: 0 });
    expect(new Set(await ask())).to.deep.equal(new Set(['00']));
    expect(new Set((await simulator.log()).map((row) => row.ref_id)).size).to.equal(60);
    expect(await simulator.log()).to.have.lengthOf(60);
  });

  it('repeats the same faults for the same seed', async () => {
    const play = async (seed: number): Promise<string[]> => {
      const other = await startSimulator({ seed });
      try {
        await other.control({ fault_rate: 0.5 });
        const outcomes = [];
        for (let calls = 0; calls < 40; calls += 1) {
          outcomes.push(await outcome(other, '/request', {}));
        }
        return outcomes;
      } finally {
        await other.stop();
      }
    };
    const first = await play(7);
    expect(await play(7)).to.deep.equal(first);
    expect(await play(8)).not.to.deep.equal(first);
  });

  for (const status of ['02', '03', '04', '06', '07'] as const) {
    it(`returns ${status} for every call on request and executes nothing`, async () => {
      await simulator.control({ answer_with: status });
      const answer = await call(simulator, '/request', {});
      expect(answer).to.include({ status });
      expect(answer).not.to.have.property('transaction_status');
      expect(await simulator.log()).to.be.empty;
    });
  }

  it('keeps the results of test numbers regardless of the rates', async () => {
    await simulator.control({ refuse_rate: 1 });
    expect(await outcome(simulator, '/request', {})).to.equal('01');
    expect(await outcome(simulator, '/request', { customer: '081211111230' })).to.equal('00');
  });
});
