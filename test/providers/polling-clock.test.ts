import { expect } from 'chai';
import { h2hTraits } from '../../src/providers/h2h.js';
import { nowMs, setClock } from '../../src/shared/clock.js';
import { openQueue } from '../../src/jobs/queues.js';
import { pollingQueue } from '../../src/purchases/fulfil/fulfilment-jobs.js';
import { CaseModel } from '../../src/purchases/case.model.js';
import { OrderModel, type Order } from '../../src/purchases/order.model.js';
import { reportRepeatedSerialNumber } from '../../src/purchases/fulfil/record-cases.js';
import { PurchaseModel, type Purchase } from '../../src/purchases/purchase.model.js';
import { openShop } from '../jobs/sold-purchases.js';
import { sendJson, startPlayServer, type PlayServer } from './play-server.js';
import { fulfilById } from '../purchases/fulfil/fulfil-by-id.js';
import { useDatabase } from '../webhooks/support/database.js';

const second = 1_000;
const hour = 3_600 * second;

describe('polling schedule', () => {
  let server: PlayServer;
  let callsAtMs: number[];
  let providerAnswer: 'pending' | 'unknown';

  after(async () => {
    setClock(null);
    await server.stop();
    await openQueue(pollingQueue).obliterate({ force: true });
  });
  // Registered after the hook above, because it needs the connections which that hook opens.
  useDatabase();
  before(async () => {
    // Start a provider that never finishes an order. It records the time of each request.
    server = await startPlayServer((call, response) => {
      callsAtMs.push(nowMs());
      const refId = call.url.searchParams.get('ref_id');
      if (providerAnswer === 'unknown') {
        sendJson(response, 200, { status: '01', message: 'There is no such ref_id' });
        return;
      }
      sendJson(response, 200, {
        status: '05',
        ref_id: refId,
        transaction_status: 'pending',
        message: 'Pending',
      });
    });
  });
  beforeEach(() => {
    callsAtMs = [];
    providerAnswer = 'pending';
  });

  /** Accepts and sends one order. After that, only the test moves the clock. */
  async function sendOrder(): Promise<{ id: string; sentMs: number; at: (ms: number) => void }> {
    const startMs = Date.now();
    const at = (ms: number) => setClock(() => startMs + ms);
    at(0);
    const { _id: id } = await (await openShop(server.url)).buy();
    await fulfilById(id);
    expect(callsAtMs, 'times of the calls').to.deep.equal([startMs]);
    return { id, sentMs: startMs, at };
  }

  it('checks 1, 3, 7, 15, 25 and 35 s after sending, however many jobs run', async () => {
    const { id, sentMs, at } = await sendOrder();
    for (let ms = 0; ms <= 40 * second; ms += 500) {
      at(ms);
      // Run more jobs than usual. The order itself must keep the schedule.
      await fulfilById(id);
      await fulfilById(id);
    }
    expect(callsAtMs.slice(1).map((ms) => (ms - sentMs) / second)).to.deep.equal([1, 3, 7, 15, 25, 35]);
  });

  it('a callback triggers a check at once, but not within the minimum interval', async () => {
    const { id, sentMs, at } = await sendOrder();
    at(h2hTraits.inquiryMinIntervalMs - 1);
    await fulfilById(id, { askNow: true });
    expect(callsAtMs).to.have.length(1);
    at(h2hTraits.inquiryMinIntervalMs);
    await fulfilById(id, { askNow: true });
    await fulfilById(id, { askNow: true });
    expect(callsAtMs.slice(1)).to.deep.equal([sentMs + h2hTraits.inquiryMinIntervalMs]);
  });

  it('ends the checks after 24 h: the order goes to review and no money moves', async () => {
    const { id, at } = await sendOrder();
    at(24 * hour - second);
    await fulfilById(id);
    expect(callsAtMs).to.have.length(2);
    for (const ms of [24 * hour + 60 * second, 25 * hour, h2hTraits.inquiryMaxAgeMs + hour, 91 * 24 * hour]) {
      at(ms);
      await fulfilById(id);
      await fulfilById(id, { askNow: true });
    }
    expect(callsAtMs).to.have.length(2);
    const transaction = await PurchaseModel.findById(id).lean<Purchase>();
    expect(transaction).to.include({ status: 'PROCESSING', nextActionAt: null });
    expect(transaction?.reviewSince).to.be.an.instanceOf(Date);
    expect(await OrderModel.find({ transactionId: id }).lean<Order[]>()).to.have.length(1);
  });

  it('an order that the provider once knew is never bought elsewhere', async () => {
    const { id, at } = await sendOrder();
    providerAnswer = 'unknown';
    for (let ms = 0; ms <= 120 * second; ms += second) {
      at(ms);
      await fulfilById(id);
    }
    const purchase = await PurchaseModel.findById(id).orFail().lean<Purchase>();
    expect(purchase).to.include({ status: 'PROCESSING' });
    expect(purchase.reviewReason).to.contain('knew this order');
    const made = await OrderModel.find({ transactionId: id }).lean<Order[]>();
    expect(made.map(({ status, open }) => [status, open])).to.deep.equal([['UNKNOWN', true]]);
    expect(callsAtMs.length, 'one order and checks until five equal answers').to.be.within(6, 12);
  });

  it('a serial number that repeats for a second order of a product opens a case', async () => {
    const { id } = await sendOrder();
    const { productCode } = (await PurchaseModel.findById(id).lean<Purchase>()) ?? { productCode: '' };
    await PurchaseModel.updateOne({ _id: id }, { $set: { serialNumber: 'SN-TWICE' } });
    const cases = () => CaseModel.countDocuments({ kind: 'repeated-serial-number', transactionId: 'second' });
    await reportRepeatedSerialNumber({ _id: 'second', productCode }, 'SN-ONCE');
    await reportRepeatedSerialNumber({ _id: 'second', productCode: 'another' }, 'SN-TWICE');
    await reportRepeatedSerialNumber({ _id: id, productCode }, 'SN-TWICE');
    expect(await cases()).to.equal(0);
    await reportRepeatedSerialNumber({ _id: 'second', productCode }, 'SN-TWICE');
    expect(await cases()).to.equal(1);
    await CaseModel.deleteMany({ transactionId: 'second' });
  });

  it("ends the checks at the provider's maximum age, even if reviews start later", async () => {
    const { id, at } = await sendOrder();
    at(h2hTraits.inquiryMaxAgeMs + 1);
    await fulfilById(id);
    expect(callsAtMs).to.have.length(1);
    expect((await PurchaseModel.findById(id).lean<Purchase>())?.reviewSince).to.be.an.instanceOf(Date);
  });
});
