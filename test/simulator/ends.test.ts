import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { md5Sign, startSimulator, type RunningSimulator } from '../support/simulator.js';
import { call, newRef, waitForStatus, type SimulatorAnswer } from './call-simulator.js';

describe('simulator: ending an order', () => {
  let dataDir: string;
  let simulator: RunningSimulator;
  before(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'simulator-ends-'));
    simulator = await startSimulator({ dataDir });
  });
  after(async () => {
    await simulator.stop();
    await rm(dataDir, { recursive: true, force: true });
  });

  async function end(
    refId: string,
    result: string,
    over: Record<string, string> = {},
  ): Promise<SimulatorAnswer> {
    const sign = md5Sign('shop', simulator.secret, refId);
    const query = new URLSearchParams({ username: 'shop', sign, ref_id: refId, result, ...over });
    return (await (await fetch(`${simulator.url}/end?${query.toString()}`)).json()) as SimulatorAnswer;
  }
  const order = (ending: string) => ({ ref_id: newRef(), customer: `08121111${ending}` });
  const executions = async (refId: string) => (await simulator.log({ ref_id: refId })).length;

  it('ends a held order once; a repeat is accepted, another end refused', async () => {
    for (const [result, told, count] of [
      ['success', { status: '00', transaction_status: 'success' }, 1],
      ['failed', { status: '04', transaction_status: 'failed' }, 0],
    ] as const) {
      const heldOrder = order('1238');
      const taken = await call(simulator, '/request', heldOrder);
      expect(taken).to.include({ status: '00', transaction_status: 'pending', sn: null });
      expect(await call(simulator, '/request', heldOrder)).to.include({ status: '05' });
      expect(await executions(heldOrder.ref_id)).to.equal(0);
      expect((await end(heldOrder.ref_id, result)).status).to.equal('00');
      const other = result === 'success' ? 'failed' : 'success';
      expect((await end(heldOrder.ref_id, other)).status).to.equal('01');
      expect(await call(simulator, '/request', heldOrder)).to.include(told);
      expect((await end(heldOrder.ref_id, result)).status).to.equal('00');
      expect((await end(heldOrder.ref_id, other)).status).to.equal('01');
      expect(await executions(heldOrder.ref_id)).to.equal(count);
    }
  });

  it('keeps a reported end and changes an unreported one', async () => {
    const reported = order('1230');
    await call(simulator, '/request', reported);
    expect((await end(reported.ref_id, 'failed')).status).to.equal('01');
    const hidden = order('1237');
    await call(simulator, '/request', hidden);
    expect(await executions(hidden.ref_id)).to.equal(1);
    expect((await end(hidden.ref_id, 'failed')).status).to.equal('00');
    expect(await executions(hidden.ref_id)).to.equal(0);
    const later = order('1233');
    await call(simulator, '/request', later);
    await waitForStatus('00', simulator, '/request', later);
    expect((await end(later.ref_id, 'failed')).status).to.equal('01');
  });

  it('reverses only a success', async () => {
    const sold = order('1230');
    await call(simulator, '/request', sold);
    expect((await end(sold.ref_id, 'reversed')).status).to.equal('00');
    expect(await call(simulator, '/request', sold)).to.include({
      status: '01',
      transaction_status: 'reversed',
    });
    expect(await executions(sold.ref_id)).to.equal(0);
    expect((await end(sold.ref_id, 'reversed')).status).to.equal('00');
    for (const ending of ['1232', '1238']) {
      const unsold = order(ending);
      await call(simulator, '/request', unsold);
      expect((await end(unsold.ref_id, 'reversed')).status, ending).to.equal('01');
    }
  });

  it('refuses a wrong sign, an unknown order and an unknown result', async () => {
    const heldOrder = order('1238');
    await call(simulator, '/request', heldOrder);
    expect((await end(heldOrder.ref_id, 'success', { sign: 'f'.repeat(32) })).status).to.equal('07');
    expect((await end(heldOrder.ref_id, 'lost')).status).to.equal('01');
    expect((await end(newRef(), 'success')).status).to.equal('02');
    expect(await call(simulator, '/request', heldOrder)).to.include({ status: '05' });
  });

  it('keeps the end after a restart', async () => {
    const heldOrder = order('1238');
    await call(simulator, '/request', heldOrder);
    await end(heldOrder.ref_id, 'success');
    await simulator.stop('SIGKILL');
    simulator = await startSimulator({ dataDir });
    expect(await call(simulator, '/request', heldOrder)).to.include({
      status: '00',
      transaction_status: 'success',
    });
    expect(await executions(heldOrder.ref_id)).to.equal(1);
  });
});
