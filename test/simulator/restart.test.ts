import { appendFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { startProgram } from '../support/start-program.js';
import { startSimulator } from '../support/simulator.js';
import { call, newRef, outcome } from './call-simulator.js';

describe('simulator: process', () => {
  let dataDir: string;
  beforeEach(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'simulator-test-'));
  });
  afterEach(() => rm(dataDir, { recursive: true, force: true }));

  it('keeps executions and refusals after kill -9', async () => {
    const good = { ref_id: newRef() };
    const bad = { ref_id: newRef() };
    let simulator = await startSimulator({ dataDir });
    const before = await call(simulator, '/request', good);
    await simulator.control({ refuse_rate: 1 });
    await call(simulator, '/request', bad);
    const log = await simulator.log();
    await simulator.stop('SIGKILL');

    simulator = await startSimulator({ dataDir });
    expect(await simulator.log()).to.deep.equal(log);
    expect(await call(simulator, '/request', good)).to.deep.equal(before);
    expect(await call(simulator, '/request', { ...good, code: 'S50' })).to.include({ status: '01' });
    expect(await call(simulator, '/request', bad)).to.include({ transaction_status: 'failed' });
    expect(await simulator.log()).to.deep.equal(log);
    await simulator.stop();
  });

  it('starts with a truncated last line and continues the file', async () => {
    const first = { ref_id: newRef() };
    const second = { ref_id: newRef() };
    let simulator = await startSimulator({ dataDir });
    await call(simulator, '/request', first);
    await simulator.stop();
    await appendFile(join(dataDir, 'orders.jsonl'), '{"at":"2026-01-01T00:00:00.000Z","ki');
    simulator = await startSimulator({ dataDir });
    await call(simulator, '/request', second);
    await simulator.stop();
    simulator = await startSimulator({ dataDir });
    expect((await simulator.log()).map((row) => row.ref_id)).to.deep.equal([first.ref_id, second.ref_id]);
    await simulator.stop();
  });

  it('exits with 0 on SIGTERM while a caller waits', async () => {
    const simulator = await startSimulator({ dataDir });
    const order = { ref_id: newRef(), customer: '081211111235' };
    const waiting = outcome(simulator, '/request', order, 10_000);
    while ((await simulator.log({ ref_id: order.ref_id })).length === 0) {
      // Wait until the order is executed.
    }
    const startedAt = performance.now();
    expect(await simulator.stop()).to.equal(0);
    expect(performance.now() - startedAt).to.be.lessThan(2_000);
    expect(await waiting).to.equal('no answer');
  });

  it('names a port that is in use and exits', async () => {
    const simulator = await startSimulator({ dataDir });
    const args = ['--port', String(simulator.port), '--data-dir', join(dataDir, 'other')];
    const mistake = await startProgram('scripts/simulator/main.js', args).catch((error: unknown) =>
      String(error),
    );
    expect(mistake).to.include(`port ${simulator.port} is already in use`);
    await simulator.stop();
  });
});
