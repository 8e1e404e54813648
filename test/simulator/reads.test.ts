import { createHmac } from 'node:crypto';
import { expect } from 'chai';
import { md5Sign, startSimulator, type RunningSimulator } from '../support/simulator.js';
import { call, newRef } from './call-simulator.js';

describe('simulator: balance, price list and bills', () => {
  let simulator: RunningSimulator;
  before(async () => {
    simulator = await startSimulator();
  });
  after(() => simulator.stop());

  async function read(path: string, suffix: string, more: Record<string, string> = {}): Promise<unknown> {
    const query = { username: 'shop', sign: md5Sign('shop', simulator.secret, suffix), ...more };
    return (await fetch(`${simulator.url}${path}?${new URLSearchParams(query).toString()}`)).json();
  }

  it('shows the configured balance', async () => {
    await simulator.control({ providers: { shop: { balance: 12_345 } } });
    const answer = await read('/balance', 'depo');
    expect(answer).to.deep.equal({ status: '00', message: 'Success', balance: 12_345, currency: 'IDR' });
  });

  it('lists products and filters them by category and operator', async () => {
    const { data: all } = (await read('/price-list', 'pricelist')) as { data: Record<string, unknown>[] };
    expect(all.length).to.be.greaterThan(30);
    for (const item of all) {
      expect(item).to.have.all.keys('code', 'name', 'price', 'status');
    }
    const bills = (await read('/price-list', 'pricelist', { category: 'pascabayar' })) as { data: unknown[] };
    const some = (await read('/price-list', 'pricelist', { operator: 'telkomsel' })) as { data: unknown[] };
    expect(bills.data.length).to.be.within(1, all.length - 1);
    expect(some.data.length).to.be.within(1, all.length - 1);
  });

  it('raises some costs of kilat once price_raise_ms has passed, and none of others', async () => {
    const readCosts = async (username: string) => {
      const { data } = (await read('/price-list', 'pricelist', {
        username,
        sign: md5Sign(username, simulator.secret, 'pricelist'),
      })) as { data: { code: string; price: number }[] };
      return data.map(({ code, price }) => ({ code, price }));
    };
    const before = { kilat: await readCosts('kilat'), nusantara: await readCosts('nusantara') };
    await simulator.control({ price_raise_ms: 0 });
    const raised = (await readCosts('kilat')).filter(({ price }, at) => price !== before.kilat[at]?.price);
    expect(raised.length).to.be.within(20, 60);
    for (const { code, price } of raised) {
      const cost = before.kilat.find((each) => each.code === code)?.price ?? 0;
      expect(price / cost, code).to.be.within(1.05, 1.25);
    }
    expect(await readCosts('nusantara')).to.deep.equal(before.nusantara);
    const page = await (await fetch(simulator.url)).text();
    expect(page).to.contain('price_raise_ms').and.contain('kilat');
  });

  it('requires a separate sign for each read, MD5 or HMAC', async () => {
    expect(await read('/balance', 'pricelist')).to.include({ status: '07' });
    expect(await read('/price-list', 'depo')).to.include({ status: '07' });
    const sign = createHmac('sha256', simulator.secret).update('shop|depo').digest('hex');
    expect(await read('/balance', '', { sign })).to.include({ status: '00' });
  });

  const inquire = (customer: string) => call(simulator, '/inquiry', { code: 'PDAM', customer });
  const pay = (customer: string, refId: string, amount?: number) =>
    call(simulator, '/payment', {
      code: 'PDAM',
      customer,
      ref_id: refId,
      ...(amount === undefined ? {} : { amount: String(amount) }),
    });

  for (const customer of ['5300001240', '5300007777']) {
    it(`shows a constant bill for ${customer} and accepts its payment once`, async () => {
      const bill = await inquire(customer);
      expect(bill).to.include({ status: '00', customer_number: customer });
      expect(bill['customer_name']).to.be.a('string').and.not.empty;
      expect(bill['bill_period']).to.match(/^\d{4}-(0[1-9]|1[0-2])$/);
      expect(bill['total_amount']).to.equal(Number(bill['total_bill']) + Number(bill['admin_fee']));
      const { ref_id: _, ...again } = await inquire(customer);
      expect(bill).to.include(again);

      const refId = newRef();
      const answers = await Promise.all(
        [1, 2, 3].map(() => pay(customer, refId, Number(bill['total_amount']))),
      );
      expect(answers.map(({ status }) => status)).to.deep.equal(['00', '00', '00']);
      expect(await simulator.log({ ref_id: refId })).to.have.lengthOf(1);
    });
  }

  for (const [customer, status, message] of [
    ['5300001241', '01', 'Bill already paid'],
    ['5300001242', '04', 'Invalid customer number'],
    ['5300001243', '02', 'No bill found'],
  ] as const) {
    it(`returns ${status} for an inquiry of ${customer} and refuses to pay: ${message}`, async () => {
      expect(await inquire(customer)).to.include({ status, message });
      const refId = newRef();
      expect(await pay(customer, refId)).to.include({ status: '01', message, transaction_status: 'failed' });
      expect(await simulator.log({ ref_id: refId })).to.be.empty;
    });
  }

  it('1244: refuses the old total, shows the new one and accepts it', async () => {
    const customer = '5300001244';
    const before = await inquire(customer);
    const refused = await pay(customer, newRef(), Number(before['total_amount']));
    expect(refused).to.include({ status: '01', transaction_status: 'failed' });
    const changed = await inquire(customer);
    expect(changed['total_amount']).to.be.greaterThan(Number(before['total_amount']));
    const refId = newRef();
    expect(await pay(customer, refId, Number(changed['total_amount']))).to.include({
      transaction_status: 'success',
    });
    expect(await simulator.log({ ref_id: refId })).to.have.lengthOf(1);
  });

  it('1244: uses the total last shown for a payment without an amount', async () => {
    const customer = '5399991244';
    await inquire(customer);
    expect(await pay(customer, newRef())).to.include({ status: '01', transaction_status: 'failed' });
    await inquire(customer);
    expect(await pay(customer, newRef())).to.include({ status: '00', transaction_status: 'success' });
  });

  it('refuses a payment of another amount than the bill', async () => {
    const { total_amount: total } = await inquire('5300008888');
    const refId = newRef();
    expect(await pay('5300008888', refId, Number(total) - 1)).to.include({ transaction_status: 'failed' });
    expect(await simulator.log({ ref_id: refId })).to.be.empty;
  });

  it('1245: keeps the payment pending, then succeeds', async () => {
    await simulator.control({ providers: { shop: { pending_ms: 600_000 } } });
    const refId = newRef();
    expect(await pay('5300001245', refId)).to.include({
      status: '00',
      transaction_status: 'pending',
      sn: null,
    });
    expect(await pay('5300001245', refId)).to.include({ status: '05', transaction_status: 'pending' });
    expect(await simulator.log({ ref_id: refId })).to.have.lengthOf(1);
  });
});
