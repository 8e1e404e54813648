import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { startInbox, type RunningInbox } from '../support/inbox.js';
import { startSimulator, type RunningSimulator } from '../support/simulator.js';
import { call, newRef } from './call-simulator.js';

describe('simulator: callbacks', () => {
  const secret = `whsec_${randomBytes(32).toString('base64')}`;
  let simulator: RunningSimulator;
  let inbox: RunningInbox;
  before(async () => {
    [simulator, inbox] = await Promise.all([startSimulator(), startInbox({ secrets: { ours: secret } })]);
    await simulator.control({
      pending_ms: 1_000,
      providers: { caller: { callback_url: `${inbox.url}/hooks/ours`, callback_secret: secret } },
    });
  });
  after(() => Promise.all([simulator.stop(), inbox.stop()]));

  const bodyFor = async (refId: string): Promise<unknown> => {
    const message = await inbox.waitFor(({ raw }) => raw.includes(refId));
    expect(message.verified).to.be.true;
    return JSON.parse(message.raw);
  };

  it('posts the signed final result of a pending order as documented', async () => {
    const order = { username: 'caller', ref_id: newRef(), code: 'S10', customer: '081211111233' };
    expect(await call(simulator, '/request', order)).to.include({ transaction_status: 'pending' });
    const body = await bodyFor(order.ref_id);
    const { sn } = await call(simulator, '/request', order);
    expect(body).to.deep.equal({
      ref_id: order.ref_id,
      code: 'S10',
      customer_number: '081211111233',
      status: 'success',
      sn,
      message: 'Success',
    });
  });

  it('posts a refusal with its reason and without a serial number', async () => {
    const order = { username: 'caller', ref_id: newRef(), customer: '081211111234' };
    await call(simulator, '/request', order);
    const body = await bodyFor(order.ref_id);
    expect(body).to.include({ status: 'failed', message: 'Refused by the operator' });
    expect(body).not.to.have.property('sn');
  });

  it('retries after a failure of the receiver and numbers the attempts', async () => {
    await inbox.control({ answers: { ours: { fail_rate: 1, times: 1 } } });
    const order = { username: 'caller', ref_id: newRef() };
    await call(simulator, '/request', order);
    const tries = await inbox.waitForCount(2, ({ raw }) => raw.includes(order.ref_id));
    expect(tries.map(({ headers, answered }) => [headers['x-attempt'], answered])).to.deep.equal([
      ['1', 500],
      ['2', 200],
    ]);
  });

  it('posts nothing for providers without a callback address', async () => {
    const silent = newRef();
    await call(simulator, '/request', { ref_id: silent, username: 'other' });
    const last = newRef();
    await call(simulator, '/request', { ref_id: last, username: 'caller' });
    await bodyFor(last);
    expect((await inbox.messages()).filter(({ raw }) => raw.includes(silent))).to.be.empty;
  });
});
