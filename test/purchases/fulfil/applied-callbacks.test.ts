/** A signed callback of Digiflazz is applied at once if it is final and agrees with its order. */
import { expect } from 'chai';
import { createHmac } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { AccountModel } from '../../../src/accounts/account.model.js';
import { getProviderSecretContext } from '../../../src/accounts/secret-contexts.js';
import { WalletModel } from '../../../src/money/wallets/wallet.model.js';
import { OfferModel } from '../../../src/products/offer.model.js';
import { CaseModel, type ReconciliationCase } from '../../../src/purchases/case.model.js';
import { receiveProviderCallback } from '../../../src/purchases/fulfil/receive-provider-callback.js';
import { verifySale } from '../../../src/purchases/fulfil/reverse-sale.js';
import { OrderModel, type Order } from '../../../src/purchases/order.model.js';
import { PurchaseModel, type Purchase } from '../../../src/purchases/purchase.model.js';
import { keepFleetClock, type FleetClock } from '../../../src/redis/fleet-clock.js';
import { writeAndInvalidate } from '../../../src/redis/publish-changes.js';
import { encrypt } from '../../../src/shared/encryption.js';
import { openShop, type Shop } from '../../jobs/sold-purchases.js';
import { sendJson, startPlayServer, type PlayServer } from '../../providers/play-server.js';
import { eventually } from '../../support/eventually.js';
import { useDatabase } from '../../webhooks/support/database.js';
import { fulfilById } from './fulfil-by-id.js';

const hookSecret = 'secret of the webhook';
const success = { status: 'Sukses', rc: '00', sn: 'SN-1', message: 'Transaksi Sukses', price: 900 };
const failure = { status: 'Gagal', rc: '54', sn: '', message: 'Nomor tujuan salah', price: 900 };

describe('a signed callback', () => {
  useDatabase();
  let server: PlayServer;
  let clock: FleetClock;
  /** The provider's answer. Null holds the request until the test answers it. */
  let answer: object | null;
  let held: ((answer: object) => void)[];

  before(async () => {
    clock = keepFleetClock();
    await clock.measured;
    server = await startPlayServer(({ raw }, response) => {
      const { ref_id } = JSON.parse(raw || '{}') as { ref_id?: string };
      const send = (data: object) => sendData(response, { ref_id, ...data });
      if (answer) {
        send(answer);
      } else {
        held.push(send);
      }
    });
  });
  beforeEach(() => {
    answer = { rc: '03', status: 'Pending', message: 'Wait' };
    held = [];
    server.calls.length = 0;
  });
  after(async () => {
    await clock.stop();
    await server.stop();
  });

  async function openFlazz(): Promise<Shop> {
    const shop = await openShop(server.url, { kind: 'digiflazz' });
    await setProvider(shop, {
      callbackSecretSealed: encrypt(hookSecret, getProviderSecretContext(shop.seller._id)),
    });
    return shop;
  }

  function setProvider({ seller }: Shop, fields: object): Promise<unknown> {
    const $set = Object.fromEntries(
      Object.entries(fields).map(([name, value]) => [`provider.${name}`, value as unknown]),
    );
    return writeAndInvalidate([AccountModel], null, (rows) => rows.updateOne({ _id: seller._id }, { $set }));
  }

  async function buyPending(shop: Shop): Promise<string> {
    const { _id } = await shop.buy();
    await fulfilById(_id);
    expect((await read(_id)).status).to.equal('PROCESSING');
    return _id;
  }

  function buildBody(shop: Shop, id: string, data: object, n = 1): object {
    return {
      data: {
        trx_id: 't',
        ref_id: `${id}-${n}`,
        customer_no: '081234567890',
        buyer_sku_code: shop.productCode,
        ...data,
      },
    };
  }

  function call(body: object, secret = hookSecret): Promise<void> {
    const raw = Buffer.from(JSON.stringify(body));
    const hex = createHmac('sha1', secret).update(raw).digest('hex');
    const headers = { 'x-hub-signature': `sha1=${hex}`, 'x-digiflazz-event': 'update' };
    return receiveProviderCallback({ protocol: 'digiflazz', raw, headers });
  }

  async function balanceOf({ buyer }: Shop): Promise<number> {
    return (await WalletModel.findById(buyer._id).orFail().lean<{ balance: number }>()).balance;
  }

  it('that reports success with a serial number is a success without a status check', async () => {
    const shop = await openFlazz();
    const id = await buyPending(shop);
    const startedMs = performance.now();
    await Promise.all(Array.from({ length: 5 }, () => call(buildBody(shop, id, success))));
    expect(performance.now() - startedMs).to.be.below(5_000);
    const sold = await read(id);
    expect(sold).to.include({ status: 'SUCCESS', serialNumber: 'SN-1' });
    await call(buildBody(shop, id, success));
    expect(await read(id)).to.include({ version: sold.version });
    expect(await balanceOf(shop)).to.equal(10_000_000 - 1_000);
    expect(server.calls).to.have.length(1);
    expect(await casesOf(id)).to.deep.equal([]);
  });

  it('that reports a final failure refunds the purchase once', async () => {
    const shop = await openFlazz();
    const id = await buyPending(shop);
    await Promise.all(Array.from({ length: 5 }, () => call(buildBody(shop, id, failure))));
    expect(await read(id)).to.include({ status: 'FAILED', failureCode: '04' });
    expect(await balanceOf(shop)).to.equal(10_000_000);
    expect(server.calls).to.have.length(1);
    expect(await casesOf(id)).to.deep.equal([]);
  });

  it('applies to the order of the number in the forms that providers write', async () => {
    for (const customer_no of ['6281234567890', '+62 812-3456-7890', 81_234_567_890]) {
      const shop = await openFlazz();
      const id = await buyPending(shop);
      await call(buildBody(shop, id, { ...success, customer_no }));
      expect((await read(id)).status, String(customer_no)).to.equal('SUCCESS');
    }
  });

  it('that says less, or something else than the order, only triggers a check', async () => {
    const shop = await openFlazz();
    const id = await buyPending(shop);
    for (const [what, data] of Object.entries({
      'no serial number': { ...success, sn: '' },
      'a placeholder': { ...success, sn: ' - ' },
      'another product': { ...success, buyer_sku_code: 'other' },
      'another customer': { ...success, customer_no: '081234567891' },
      'no product': { ...failure, buyer_sku_code: undefined },
      'no customer': { ...failure, customer_no: '' },
      'another product fails': { ...failure, buyer_sku_code: 'other' },
      'a code to confirm': { ...failure, rc: '70' },
      'a fault of ours': { ...failure, rc: '44' },
      'an unlisted code': { ...failure, rc: '999' },
      'a code without meaning': { ...failure, rc: '99' },
      'a code for the operator': { ...failure, rc: '49' },
      'a reversal': { ...failure, rc: '74' },
      'no code': { ...failure, rc: undefined },
      'a contradiction': { ...success, status: 'Gagal' },
      'the other contradiction': { ...failure, status: 'Sukses' },
      'not final': { status: 'Pending', rc: '03' },
    })) {
      await call(buildBody(shop, id, data));
      expect((await read(id)).status, what).to.equal('PROCESSING');
      expect(await orderOf(id), what).to.include({ open: true, serialNumber: null });
    }
    expect(await balanceOf(shop)).to.equal(10_000_000 - 1_000);
    await call(buildBody(shop, id, success));
    expect((await read(id)).status, 'applied afterwards').to.equal('SUCCESS');
  });

  it('is refused with another secret, and as the body of another order', async () => {
    const shop = await openFlazz();
    const [id, otherId] = [await buyPending(shop), await buyPending(shop)];
    const refusal = await call(buildBody(shop, id, failure), 'another').catch((error: unknown) => error);
    expect(refusal).to.include({ reason: 'invalid_signature' });
    const first = JSON.stringify(buildBody(shop, otherId, failure));
    const hex = createHmac('sha1', hookSecret).update(first).digest('hex');
    const replayed = Buffer.from(first.replace(otherId, id));
    const headers = { 'x-hub-signature': `sha1=${hex}` };
    const replay = await receiveProviderCallback({ protocol: 'digiflazz', raw: replayed, headers }).catch(
      (error: unknown) => error,
    );
    expect(replay).to.include({ reason: 'invalid_signature' });
    expect((await read(id)).status).to.equal('PROCESSING');
  });

  it('only triggers a check without a secret of its own, or from a changed system', async () => {
    const shop = await openFlazz();
    const id = await buyPending(shop);
    await setProvider(shop, { username: 'another' });
    await call(buildBody(shop, id, failure));
    await setProvider(shop, { username: 'us', baseUrl: `${server.url}/v2` });
    await call(buildBody(shop, id, failure));
    await setProvider(shop, { baseUrl: server.url, callbackSecretSealed: null });
    await call(buildBody(shop, id, failure), 'secret');
    expect((await read(id)).status).to.equal('PROCESSING');
  });

  it('that reports a cost above the maximum opens a case', async () => {
    const shop = await openFlazz();
    const id = await buyPending(shop);
    await call(buildBody(shop, id, { ...success, price: 1_200 }));
    expect((await read(id)).status).to.equal('SUCCESS');
    expect((await casesOf(id)).map(({ kind }) => kind)).to.deep.equal(['cost-above-maximum']);
  });

  it('about a refused order goes on with the next seller, and a late one opens a case', async () => {
    const shop = await openFlazz();
    const other = await openFlazz();
    await writeAndInvalidate([OfferModel], null, (rows) =>
      rows.create({
        _id: `${shop.productCode}:${other.seller._id}`,
        productCode: shop.productCode,
        sellerId: other.seller._id,
        price: 1_000,
        status: 'active',
      }),
    );
    const id = await buyPending(shop);
    await call(buildBody(shop, id, { ...failure, rc: '55' }));
    expect(await read(id)).to.include({ status: 'PROCESSING' });
    expect(await orderOf(id)).to.include({ status: 'REJECTED', open: false });
    await fulfilById(id);
    expect(await orderOf(id, 2)).to.include({ open: true });
    await call(buildBody(shop, id, { ...failure, rc: '55' }));
    expect(await orderOf(id, 2), 'the earlier failure again').to.include({ open: true });
    await call(buildBody(shop, id, success));
    expect(await orderOf(id, 2), 'the earlier order succeeds late').to.include({ open: true });
    expect((await read(id)).status).to.equal('PROCESSING');
    expect((await casesOf(id)).map(({ kind }) => kind)).to.deep.equal(['contradicting-answer']);
    await call(buildBody(shop, id, success, 2));
    expect((await read(id)).status).to.equal('SUCCESS');
  });

  it('that contradicts an applied one moves no money and opens a case', async () => {
    const shop = await openFlazz();
    const [sold, refused] = [await buyPending(shop), await buyPending(shop)];
    await call(buildBody(shop, sold, success));
    await call(buildBody(shop, sold, failure));
    expect((await read(sold)).status).to.equal('SUCCESS');
    await OrderModel.updateOne({ _id: `${sold}-1` }, { $set: { sentAt: anHourAgo() } });
    answer = failure;
    await verifySale(sold, shop.buyer._id);
    expect((await read(sold)).status, 'the provider says failed').to.equal('SUCCESS');
    expect((await casesOf(sold)).map(({ kind }) => kind)).to.deep.equal(['reversal']);
    await call(buildBody(shop, refused, failure));
    await call(buildBody(shop, refused, { ...success, sn: 'SN-2' }));
    expect((await read(refused)).status).to.equal('FAILED');
    expect((await casesOf(refused)).map(({ kind }) => kind)).to.deep.equal(['contradicting-answer']);
    expect(await balanceOf(shop)).to.equal(10_000_000 - 1_000);
  });

  it('before the answer to the order: a success counts, a failure waits', async () => {
    for (const [data, early, late] of [
      [success, 'SUCCESS', 'SUCCESS'],
      [failure, 'PROCESSING', 'PROCESSING'],
    ] as const) {
      const shop = await openFlazz();
      const { _id: id } = await shop.buy();
      answer = null;
      const sending = fulfilById(id);
      await eventually('the order arrives', () => held.length === 1);
      await call(buildBody(shop, id, data));
      expect((await read(id)).status).to.equal(early);
      held.shift()?.({ rc: '03', status: 'Pending', message: 'Wait' });
      await sending;
      expect((await read(id)).status).to.equal(late);
      expect(await casesOf(id)).to.deep.equal([]);
      await call(buildBody(shop, id, data));
      expect((await read(id)).status).to.equal(data === success ? 'SUCCESS' : 'FAILED');
    }
  });

  it('during a review is only noted', async () => {
    const shop = await openFlazz();
    const id = await buyPending(shop);
    await PurchaseModel.updateOne({ _id: id }, { $set: { reviewSince: new Date(), reviewReason: 'why' } });
    await call(buildBody(shop, id, failure));
    expect(await read(id)).to.include({ status: 'PROCESSING' });
    expect((await read(id)).reviewReason).to.match(/callback reports failed/);
  });

  it('of the reseller protocol only triggers a check', async () => {
    const h2h = await startPlayServer(({ url }, response) =>
      sendJson(response, 200, { ref_id: url.searchParams.get('ref_id'), status: '05', message: 'Wait' }),
    );
    const shop = await openShop(h2h.url);
    await setProvider(shop, {
      callbackSecretSealed: encrypt(hookSecret, getProviderSecretContext(shop.seller._id)),
    });
    const id = await buyPending(shop);
    for (const status of ['success', 'failed']) {
      const body = {
        ref_id: `${id}-1`,
        status,
        sn: 'SN-1',
        code: shop.productCode,
        customer: '081234567890',
      };
      const raw = Buffer.from(JSON.stringify(body));
      const hex = createHmac('sha256', hookSecret).update(raw).digest('hex');
      await receiveProviderCallback({ protocol: 'h2h', raw, headers: { 'x-signature': `sha256=${hex}` } });
      expect((await read(id)).status, status).to.equal('PROCESSING');
    }
    await h2h.stop();
  });
});

function sendData(response: ServerResponse, data: object): void {
  sendJson(response, 200, { data });
}

function read(id: string): Promise<Purchase> {
  return PurchaseModel.findById(id).orFail().lean<Purchase>();
}

function orderOf(id: string, n = 1): Promise<Order> {
  return OrderModel.findOne({ _id: `${id}-${n}` })
    .orFail()
    .lean<Order>();
}

function casesOf(transactionId: string): Promise<ReconciliationCase[]> {
  return CaseModel.find({ transactionId }).lean<ReconciliationCase[]>();
}

function anHourAgo(): Date {
  return new Date(Date.now() - 3_600_000);
}
