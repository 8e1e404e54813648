import { createHmac } from 'node:crypto';
import { expect } from 'chai';
import { startSimulator, type RunningSimulator } from '../support/simulator.js';
import { call, newRef, orderUrl, outcome, waitForStatus } from './call-simulator.js';

describe('simulator: orders', () => {
  let simulator: RunningSimulator;
  before(async () => {
    simulator = await startSimulator({ secret: 'a secret of this test' });
  });
  after(() => simulator.stop());

  const executions = async (refId: string) => (await simulator.log({ ref_id: refId })).length;

  it('responds as documented with a serial number and logs the execution', async () => {
    const order = { ref_id: newRef(), customer: '081211111230', code: 'S25', username: 'seller-7' };
    const answer = await call(simulator, '/request', order);
    expect(answer).to.have.all.keys('status', 'message', 'ref_id', 'sn', 'transaction_status');
    expect(answer).to.include({
      status: '00',
      message: 'Success',
      ref_id: order.ref_id,
      transaction_status: 'success',
    });
    expect(answer.sn).to.match(/^\d{18}$/);

    const [row, ...more] = await simulator.log({ ref_id: order.ref_id });
    expect(more).to.be.empty;
    expect(row).to.have.all.keys('at', 'provider', 'ref_id', 'code', 'customer');
    expect(row).to.include({
      provider: 'seller-7',
      ref_id: order.ref_id,
      code: 'S25',
      customer: '081211111230',
    });
  });

  it('gives PLN products a token with name, tariff, power and kWh', async () => {
    const { sn } = await call(simulator, '/request', { code: 'PLN100', customer: '12345678901' });
    expect(sn).to.match(/^\d{4}-\d{4}-\d{4}-\d{4}-\d{4}\/.+\/R1\/900VA\/74,0$/);
  });

  it('executes a ref_id once with one serial number for concurrent calls', async () => {
    const order = { ref_id: newRef() };
    const answers = await Promise.all(Array.from({ length: 100 }, () => call(simulator, '/request', order)));
    expect(new Set(answers.map(({ sn }) => sn))).to.have.lengthOf(1);
    expect(answers.every(({ status }) => status === '00')).to.be.true;
    expect(await executions(order.ref_id)).to.equal(1);
  });

  it('treats the same ref_id of another username as another order', async () => {
    const refId = newRef();
    const one = await call(simulator, '/request', { ref_id: refId, username: 'one' });
    const two = await call(simulator, '/request', {
      ref_id: refId,
      username: 'two',
      customer: '081299998888',
    });
    expect(two.status).to.equal('00');
    expect(two.sn).not.to.equal(one.sn);
    expect(await executions(refId)).to.equal(2);
  });

  for (const [what, change] of Object.entries({
    product: { code: 'S50' },
    customer: { customer: '081277776666' },
  })) {
    it(`refuses a known ref_id with another ${what} but reports no failure`, async () => {
      const refId = newRef();
      await call(simulator, '/request', { ref_id: refId });
      const answer = await call(simulator, '/request', { ref_id: refId, ...change });
      expect(answer).to.include({ status: '01', sn: null });
      expect(answer).not.to.have.property('transaction_status');
      expect(await executions(refId)).to.equal(1);
    });
  }

  it('refuses a payment with the ref_id of a purchase', async () => {
    const refId = newRef();
    await call(simulator, '/request', { ref_id: refId });
    expect(await call(simulator, '/payment', { ref_id: refId })).to.include({ status: '01' });
    expect(await executions(refId)).to.equal(1);
  });

  it('accepts the HMAC sign, which covers product and customer', async () => {
    const order = { username: 'shop', code: 'S5', customer: '081211112222', ref_id: newRef() };
    const covered = `${order.username}|${order.code}|${order.customer}|${order.ref_id}`;
    const sign = createHmac('sha256', simulator.secret).update(covered).digest('hex');
    expect(await call(simulator, '/request', { ...order, customer: '081233334444', sign })).to.include({
      status: '07',
    });
    expect(await executions(order.ref_id)).to.equal(0);
    expect(await call(simulator, '/request', { ...order, sign })).to.include({ status: '00' });
  });

  it('returns 07 for an invalid sign and executes nothing', async () => {
    for (const sign of ['0'.repeat(32), '0'.repeat(64), 'é'.repeat(32), 'short', '']) {
      const refId = newRef();
      expect(await call(simulator, '/request', { ref_id: refId, sign }), sign).to.include({ status: '07' });
      expect(await executions(refId)).to.equal(0);
    }
    const other = new URL(orderUrl(simulator, '/request', {})).searchParams.get('sign') ?? '';
    expect(await call(simulator, '/request', { sign: other })).to.include({ status: '07' });
  });

  it('refuses missing, invalid or repeated parameters without executing', async () => {
    const refId = newRef();
    expect(await call(simulator, '/request', { ref_id: refId, code: '' })).to.include({ status: '01' });
    expect(await call(simulator, '/request', { ref_id: refId, customer: '' })).to.include({ status: '04' });
    expect(await call(simulator, '/request', { ref_id: refId, customer: '08\n' })).to.include({
      status: '04',
    });
    const twice = await fetch(`${orderUrl(simulator, '/request', { ref_id: refId })}&customer=081200000000`);
    expect(await twice.json()).to.include({ status: '01', message: 'customer is given twice' });
    expect(await executions(refId)).to.equal(0);
  });

  for (const method of ['HEAD', 'POST', 'PUT']) {
    it(`returns 405 for ${method} on an order path and executes nothing`, async () => {
      const refId = newRef();
      const response = await fetch(orderUrl(simulator, '/request', { ref_id: refId }), { method });
      expect(response.status).to.equal(405);
      expect(await executions(refId)).to.equal(0);
    });
  }

  describe('endings of the customer number', () => {
    it('1232: refuses finally without an execution', async () => {
      const order = { ref_id: newRef(), customer: '081211111232' };
      const first = await call(simulator, '/request', order);
      expect(first).to.include({ status: '01', transaction_status: 'failed', sn: null });
      expect(await call(simulator, '/request', order)).to.deep.equal(first);
      expect(await executions(order.ref_id)).to.equal(0);
    });

    it('1233: is pending, then succeeds with one execution', async () => {
      const order = { ref_id: newRef(), customer: '081211111233', username: 'slow' };
      await simulator.control({ providers: { slow: { pending_ms: 150 } } });
      const first = await call(simulator, '/request', order);
      expect(first).to.include({ status: '00', transaction_status: 'pending', sn: null });
      const last = await waitForStatus('00', simulator, '/request', order);
      expect(last).to.include({ transaction_status: 'success' });
      expect(last.sn).to.be.a('string');
      expect(await executions(order.ref_id)).to.equal(1);
    });

    it('returns 05 for a repeat while the order is pending', async () => {
      const order = { ref_id: newRef(), customer: '081211111233', username: 'slower' };
      await simulator.control({ providers: { slower: { pending_ms: 600_000 } } });
      await call(simulator, '/request', order);
      const repeat = await call(simulator, '/request', order);
      expect(repeat).to.include({ status: '05', transaction_status: 'pending', sn: null });
    });

    it('1234: is pending, then refuses without an execution', async () => {
      const order = { ref_id: newRef(), customer: '081211111234', username: 'slow-refuser' };
      await simulator.control({ providers: { 'slow-refuser': { pending_ms: 150 } } });
      expect(await call(simulator, '/request', order)).to.include({ transaction_status: 'pending' });
      expect(await waitForStatus('01', simulator, '/request', order)).to.include({
        transaction_status: 'failed',
      });
      expect(await executions(order.ref_id)).to.equal(0);
    });

    it('1235: executes without a response; the status check reports success', async () => {
      const order = { ref_id: newRef(), customer: '081211111235' };
      expect(await outcome(simulator, '/request', order, 300)).to.equal('no answer');
      expect(await executions(order.ref_id)).to.equal(1);
      expect(await call(simulator, '/request', order)).to.include({
        status: '00',
        transaction_status: 'success',
      });
      expect(await executions(order.ref_id)).to.equal(1);
    });

    it('1236: fails three attempts without an execution, then succeeds', async () => {
      const order = { ref_id: newRef(), customer: '081211111236' };
      const outcomes = [];
      for (let tries = 0; tries < 3; tries += 1) {
        outcomes.push(await outcome(simulator, '/request', order));
      }
      expect(outcomes).to.deep.equal(['HTTP 503', 'no answer', 'HTTP 503']);
      expect(await executions(order.ref_id)).to.equal(0);
      expect(await call(simulator, '/request', order)).to.include({
        status: '00',
        transaction_status: 'success',
      });
      expect(await executions(order.ref_id)).to.equal(1);
    });

    it('1237: executes, is pending, is not found three times, then succeeds', async () => {
      const order = { ref_id: newRef(), customer: '081211111237' };
      expect(await call(simulator, '/request', order)).to.include({
        status: '00',
        transaction_status: 'pending',
      });
      expect(await executions(order.ref_id)).to.equal(1);
      for (let checks = 0; checks < 3; checks += 1) {
        const answer = await call(simulator, '/request', order);
        expect(answer).to.include({ status: '02', sn: null });
        expect(answer).not.to.have.property('transaction_status');
      }
      expect(await call(simulator, '/request', order)).to.include({
        status: '00',
        transaction_status: 'success',
      });
      expect(await executions(order.ref_id)).to.equal(1);
    });
  });

  it('also accepts paths below /api/reseller, like the service', async () => {
    const url = orderUrl(simulator, '/request', {}).replace('/request', '/api/reseller/request');
    expect(await (await fetch(url)).json()).to.include({ status: '00' });
  });
});
