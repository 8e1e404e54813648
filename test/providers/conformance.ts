/**
 * Tests of the guarantees that every provider adapter must provide, for any protocol. A new adapter
 * supplies a `Harness`, that is, a real HTTP server for the protocol and the customer numbers that
 * cause each outcome.
 */
import { expect } from 'chai';
import type { ServerResponse } from 'node:http';
import type { ProviderAdapter, ProviderConnection, ProviderOrder } from '../../src/providers/adapter.js';
import { setClock } from '../../src/shared/clock.js';
import { newId } from '../../src/shared/ids.js';
import { startPlayServer } from './play-server.js';

export interface Story {
  productCode: string;
  customerNumber: string;
}

export interface Harness {
  adapter: ProviderAdapter;
  connection: ProviderConnection;
  prepaid: Record<'success' | 'refused' | 'pendingSuccess' | 'pendingRefused' | 'silent', Story>;
  postpaid: Record<'success' | 'noBill' | 'changed', Story> | null;
  executions: (providerRef: string) => Promise<number>;
  /** Makes every pending order final. */
  finish: () => Promise<void>;
  callback: (providerRef: string) => Promise<{ raw: Buffer; headers: Record<string, string> }>;
  stop: () => Promise<void>;
  /** True if the provider only accepts an order at first, so that a status check brings its result. */
  isAsynchronous?: true;
  /** True if the signature of a callback covers only its reference. */
  signsOnlyReference?: true;
}

export function describeConformance(name: string, start: () => Promise<Harness>): void {
  describe(`provider adapter ${name}`, () => {
    let harness: Harness;
    before(async () => {
      harness = await start();
    });
    after(() => harness.stop());
    afterEach(() => setClock(null));

    describeOrders(() => harness);
    describeLostAnswers(() => harness);
    describeReadings(() => harness);
    describeCallbacks(() => harness);
  });
}

export function orderOf(story: Story, providerRef = `${newId()}-1`): ProviderOrder {
  return { providerRef, ...story, costMax: 1_000_000, sentAt: null, lastCheckAt: null };
}

/**
 * Returns the order as it was sent. Moves the clock forward, so that the provider's minimum
 * interval permits a status check.
 */
function askLater(harness: Harness, order: ProviderOrder): ProviderOrder {
  const sentAt = new Date();
  setClock(() => Date.now() + harness.adapter.traits.inquiryMinIntervalMs + 1_000);
  return { ...order, sentAt };
}

/** Buys, and asks for the result of a provider that only accepts at first. */
async function buyToEnd(harness: Harness, order: ProviderOrder) {
  const { adapter, connection, isAsynchronous } = harness;
  const bought = await adapter.buy(connection, order);
  if (!isAsynchronous) {
    return bought;
  }
  expect(bought).to.include({ outcome: 'pending' });
  return adapter.inquire(connection, askLater(harness, order));
}

function describeOrders(the: () => Harness): void {
  it('buys once and returns the serial number', async () => {
    const { prepaid, executions } = the();
    const order = orderOf(prepaid.success);
    const outcome = await buyToEnd(the(), order);
    expect(outcome).to.include({ outcome: 'success', code: '00' });
    expect(outcome).to.have.property('serialNumber').that.is.a('string').and.is.not.empty;
    expect(await executions(order.providerRef)).to.equal(1);
  });

  it('reports a refusal that allows failover to another seller', async () => {
    const { prepaid, executions } = the();
    const order = orderOf(prepaid.refused);
    expect(await buyToEnd(the(), order)).to.include({ outcome: 'refused', failover: 'yes' });
    expect(await executions(order.providerRef)).to.equal(0);
  });

  it('a status check of a finished order repeats its result and executes nothing', async () => {
    const harness = the();
    const { adapter, connection, prepaid, executions } = harness;
    const order = orderOf(prepaid.success);
    const bought = await buyToEnd(harness, order);
    const asked = await adapter.inquire(connection, askLater(harness, order));
    expect(asked).to.deep.equal(bought);
    expect(await executions(order.providerRef)).to.equal(1);
  });

  it('an order is pending until the provider reports its result', async () => {
    const harness = the();
    const { adapter, connection, prepaid, finish, executions } = harness;
    const good = orderOf(prepaid.pendingSuccess);
    const bad = orderOf(prepaid.pendingRefused);
    expect(await adapter.buy(connection, good)).to.include({ outcome: 'pending' });
    expect(await adapter.buy(connection, bad)).to.include({ outcome: 'pending' });
    await finish();
    expect(await adapter.inquire(connection, askLater(harness, good))).to.include({ outcome: 'success' });
    expect(await adapter.inquire(connection, askLater(harness, bad))).to.include({ outcome: 'refused' });
    expect(await executions(good.providerRef)).to.equal(1);
    expect(await executions(bad.providerRef)).to.equal(0);
  });

  it('a lost response is unknown, and the status check finds the one execution', async () => {
    const harness = the();
    const { adapter, connection, prepaid, executions } = harness;
    const order = orderOf(prepaid.silent);
    expect(await adapter.buy(connection, order)).to.include({ outcome: 'unknown', code: 'TIMEOUT' });
    expect(await executions(order.providerRef)).to.equal(1);
    expect(await adapter.inquire(connection, askLater(harness, order))).to.include({ outcome: 'success' });
    expect(await executions(order.providerRef)).to.equal(1);
  });
}

function describeLostAnswers(the: () => Harness): void {
  const unreadable: [string, (response: ServerResponse) => unknown][] = [
    ['HTTP 500', (response) => response.writeHead(500).end('{}')],
    ['HTTP 503 of a proxy', (response) => response.writeHead(503).end('Service Unavailable')],
    ['HTML instead of JSON', (response) => response.end('<html>login</html>')],
    ['JSON of another shape', (response) => response.end('{"result":"ok"}')],
    ['JSON null', (response) => response.end('null')],
    ['an empty answer', (response) => response.end()],
    ['half an answer', (response) => response.writeHead(200, { 'content-length': '500' }).end('{"sta')],
    ['a connection that closes before the answer', (response) => response.destroy()],
    ['an unknown code', (response) => response.end('{"status":"77","data":{"rc":"777"}}')],
    ['a status of the wrong type', (response) => response.end('{"status":0,"data":{"rc":0}}')],
    ['success and failure at once', (response) => response.end(contradiction)],
    ['an answer about another order', (response) => response.end(otherOrder)],
    ['an endless answer', (response) => response.write('x'.repeat(2_000_000))],
  ];
  for (const [what, answer] of unreadable) {
    it(`${what} is unknown, for the order and for its status check`, async () => {
      const { adapter, connection, prepaid } = the();
      const server = await startPlayServer((_call, response) => {
        answer(response);
      });
      try {
        const there = { ...connection, baseUrl: server.url };
        const order = orderOf(prepaid.success);
        expect(await adapter.buy(there, order)).to.include({ outcome: 'unknown' });
        expect(await adapter.inquire(there, order)).to.include({ outcome: 'unknown' });
        expect(server.calls).to.have.length(2);
      } finally {
        await server.stop();
      }
    });
  }

  it('aborts a slow, dripping response at the timeout', async () => {
    const { adapter, connection, prepaid } = the();
    const server = await startPlayServer((_call, response) => {
      const timer = setInterval(() => response.write(' '), 50);
      response.on('close', () => clearInterval(timer));
    });
    const startedAt = Date.now();
    const outcome = await adapter.buy({ ...connection, baseUrl: server.url }, orderOf(prepaid.success));
    expect(outcome).to.include({ outcome: 'unknown', code: 'TIMEOUT' });
    expect(Date.now() - startedAt).to.be.within(
      adapter.traits.timeoutMs - 50,
      adapter.traits.timeoutMs + 1_000,
    );
    await server.stop();
  });

  it('does not follow a redirect, and reports it as unknown', async () => {
    const { adapter, connection, prepaid } = the();
    const target = await startPlayServer((_call, response) => response.end('{}'));
    const server = await startPlayServer((_call, response) => {
      response.writeHead(307, { location: target.url }).end();
    });
    const outcome = await adapter.buy({ ...connection, baseUrl: server.url }, orderOf(prepaid.success));
    expect(outcome).to.include({ outcome: 'unknown', code: 'HTTP_307' });
    expect(target.calls).to.have.length(0);
    await Promise.all([server.stop(), target.stop()]);
  });

  it('reports a refused connection or an unknown host as not sent', async () => {
    const { adapter, connection, prepaid } = the();
    const server = await startPlayServer(() => undefined);
    await server.stop();
    for (const baseUrl of [server.url, 'http://provider.invalid']) {
      const there = { ...connection, baseUrl };
      expect(await adapter.buy(there, orderOf(prepaid.success)), baseUrl).to.include({ outcome: 'not-sent' });
      expect(await adapter.inquire(there, orderOf(prepaid.success)), baseUrl).to.include({
        outcome: 'unknown',
      });
    }
  });

  it('sends no status check too soon after another, or for an order that is too old', async () => {
    const { adapter, connection, prepaid } = the();
    const server = await startPlayServer((_call, response) => response.end('{}'));
    const there = { ...connection, baseUrl: server.url };
    const { inquiryMinIntervalMs, inquiryMaxAgeMs } = adapter.traits;
    const order = orderOf(prepaid.success);
    const at = Date.now();
    setClock(() => at);
    const sent = (agoMs: number) => new Date(at - agoMs);
    const ask = (sentAgoMs: number, checkedAgoMs: number | null) =>
      adapter.inquire(there, {
        ...order,
        sentAt: sent(sentAgoMs),
        lastCheckAt: checkedAgoMs === null ? null : sent(checkedAgoMs),
      });
    expect(await ask(inquiryMinIntervalMs - 1, null)).to.include({ code: 'TOO_SOON' });
    expect(await ask(inquiryMinIntervalMs * 5, inquiryMinIntervalMs - 1)).to.include({ code: 'TOO_SOON' });
    expect(await ask(inquiryMaxAgeMs + 1, inquiryMinIntervalMs)).to.include({ outcome: 'review' });
    expect(server.calls).to.have.length(0);
    await ask(inquiryMaxAgeMs, inquiryMinIntervalMs);
    expect(server.calls).to.have.length(1);
    await server.stop();
  });
}

const contradiction = JSON.stringify({
  status: '00',
  transaction_status: 'failed',
  sn: '1',
  data: { rc: '00', status: 'Gagal' },
});
const otherOrder = JSON.stringify({
  status: '00',
  ref_id: 'another',
  transaction_status: 'success',
  sn: '1',
  data: { rc: '00', status: 'Sukses', ref_id: 'another', sn: '1' },
});

function describeReadings(the: () => Harness): void {
  it('reads our balance and the price list', async () => {
    const { adapter, connection } = the();
    const balance = await adapter.balance(connection);
    expect(balance.ok && balance.value, JSON.stringify(balance)).to.be.greaterThan(0);
    const list = await adapter.priceList(connection);
    expect(list.ok && list.value.length, JSON.stringify(list)).to.be.greaterThan(0);
  });

  it('inquires about a bill, pays it once at its total, and finds its status', async function () {
    const harness = the();
    const { adapter, connection, postpaid, executions } = harness;
    if (!postpaid) {
      return this.skip();
    }
    const order = orderOf(postpaid.success);
    const inquiry = await adapter.inquireBill(connection, { ...order, providerRef: newId() });
    if (inquiry.outcome !== 'bill') {
      throw new Error(`no bill: ${JSON.stringify(inquiry)}`);
    }
    const { bill } = inquiry;
    expect(bill.totalBill + bill.adminFee).to.equal(bill.totalAmount);
    expect(bill.billPeriod).to.match(/^\d{4}-\d{2}$/);
    const payment = { ...order, billTotal: bill.totalAmount };
    expect(await adapter.payBill(connection, payment)).to.include({ outcome: 'success' });
    const asked = await adapter.inquire(connection, { ...payment, ...askLater(harness, order) });
    expect(asked).to.include({ outcome: 'success' });
    expect(await executions(order.providerRef)).to.equal(1);
  });

  it('does not pay a changed bill, and refuses a bill that does not exist', async function () {
    const { adapter, connection, postpaid, executions } = the();
    if (!postpaid) {
      return this.skip();
    }
    const changed = { ...orderOf(postpaid.changed), billTotal: 1 };
    expect(await adapter.payBill(connection, changed)).to.include({ outcome: 'refused', failover: 'no' });
    expect(await executions(changed.providerRef)).to.equal(0);
    const none = await adapter.inquireBill(connection, orderOf(postpaid.noBill));
    expect(none).to.include({ outcome: 'refused', reason: 'no-bill' });
  });

  it('no outcome contains our secret', async () => {
    const { adapter, connection, prepaid } = the();
    const serialized = JSON.stringify([
      await adapter.buy({ ...connection, baseUrl: 'http://provider.invalid' }, orderOf(prepaid.success)),
      await adapter.balance({ ...connection, baseUrl: 'http://provider.invalid' }),
      await adapter.buy({ ...connection, secret: 'wrong-secret' }, orderOf(prepaid.success)),
    ]);
    expect(serialized).not.to.contain(connection.secret);
    expect(serialized).not.to.match(/[0-9a-f]{32}/);
  });

  it('reports a rejected key as a configuration fault', async () => {
    const { adapter, connection, prepaid, executions } = the();
    const order = orderOf(prepaid.success);
    const outcome = await adapter.buy({ ...connection, secret: 'wrong-secret' }, order);
    expect(outcome).to.include({
      outcome: 'refused',
      failover: 'yes',
      clientCode: '03',
      fault: 'configuration',
    });
    const asked = await adapter.inquire({ ...connection, secret: 'wrong-secret' }, order);
    expect(asked, 'outcome of the order').to.include({ outcome: 'unknown' });
    expect(await executions(order.providerRef)).to.equal(0);
  });
}

function describeCallbacks(the: () => Harness): void {
  it('a callback names its order and verifies only with the right signature and body', async () => {
    const { adapter, connection, prepaid, callback } = the();
    const order = orderOf(prepaid.success);
    await adapter.buy(connection, order);
    const { raw, headers } = await callback(order.providerRef);
    const { signsOnlyReference = false } = the();
    expect(adapter.readCallback(raw)).to.include({ kind: 'result', providerRef: order.providerRef });
    expect(adapter.isCallbackSigned(connection, raw, headers)).to.equal(true);
    const changed = signsOnlyReference ? raw.toString().replace(/"ref_id":"/, '$&0') : `${raw.toString()} `;
    expect(adapter.isCallbackSigned(connection, Buffer.from(changed), headers), 'changed body').to.equal(
      false,
    );
    if (!signsOnlyReference) {
      expect(adapter.isCallbackSigned(connection, raw, {}), 'without headers').to.equal(false);
    }
    const other = { ...connection, secret: 'other', callbackSecret: 'other' };
    expect(adapter.isCallbackSigned(other, raw, headers), 'secret of another provider').to.equal(false);
  });

  it('reads no callback from a body of another protocol', () => {
    const { adapter } = the();
    for (const raw of [
      '',
      'null',
      '[]',
      '{"data":{"ref_id":{"$gt":""},"status":"Sukses"},"ref_id":1}',
      '<xml/>',
    ]) {
      expect(adapter.readCallback(Buffer.from(raw)), raw).to.equal(null);
    }
  });
}
