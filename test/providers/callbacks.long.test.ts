import { expect } from 'chai';
import { createHmac } from 'node:crypto';
import { request } from 'undici';
import type { ReconciliationCase } from '../../src/purchases/case.model.js';
import { uniqueRef, type ApiClient } from '../support/api-client.js';
import { expectToFitContract } from '../support/contract.js';
import { eventually } from '../support/eventually.js';
import { startStack, type Stack } from '../support/stack.js';
import { waitForStatus } from '../simulator/call-simulator.js';
import { startDigiflazzServer, type DigiflazzServer } from './digiflazz-server.js';
import {
  addProduct,
  attemptsOf,
  waitUntilFinal,
  ledgerOf,
  newBuyer,
  pointSeller,
  purchase,
  transactionOf,
  type TestSeller,
} from './provider-stack.js';

describe('provider callbacks', () => {
  let stack: Stack;
  let buyer: ApiClient;
  let digiflazz: DigiflazzServer;
  let simulated: TestSeller;
  let flazz: TestSeller;
  let code: string;

  before(async () => {
    digiflazz = await startDigiflazzServer();
    stack = await startStack({ workers: ['fulfilment', 'follow-up', 'sellers', 'webhooks'] });
    const accounts = await stack.seed();
    simulated = await pointSeller(stack, 'seller', {
      kind: 'simulator',
      baseUrl: null,
      username: 'callbacks',
      secret: stack.simulator.secret,
    });
    flazz = await pointSeller(stack, 'seller2', {
      kind: 'digiflazz',
      baseUrl: digiflazz.url,
      username: digiflazz.username,
      secret: digiflazz.apiKey,
      callbackSecret: digiflazz.webhookSecret,
    });
    code = await addProduct(stack, [{ sellerId: simulated.id, price: 10_000 }]);
    buyer = await newBuyer(stack, accounts['buyer']?.api_key ?? '');
  });
  after(async () => {
    await stack.stop();
    await digiflazz.stop();
  });

  async function post(path: string, raw: Buffer, headers: Record<string, string>) {
    const answer = await request(stack.baseUrl + path, { method: 'POST', body: raw, headers });
    const body = (await answer.body.json()) as { status: string; code?: string };
    expectToFitContract({ method: 'POST', path, status: answer.statusCode, headers: answer.headers, body });
    return { status: answer.statusCode, body };
  }

  function h2hCallback(refId: string, status: string, secret = stack.simulator.secret) {
    const raw = Buffer.from(JSON.stringify({ ref_id: refId, status, sn: 'FORGED' }));
    const hex = createHmac('sha256', secret).update(raw).digest('hex');
    return post('/api/reseller/callback', raw, {
      'x-signature': `sha256=${hex}`,
      'content-type': 'application/json',
    });
  }

  it('refuses a forged, unknown or unreadable callback and changes nothing', async () => {
    await stack.simulator.control({ pending_ms: 4_000 });
    const id = await purchase(buyer, code, '081234561233');
    await eventually(
      'the order is pending',
      async () => (await attemptsOf(stack, id))[0]?.status === 'UNKNOWN',
    );
    expect(await h2hCallback(`${id}-1`, 'success', 'guess')).to.deep.include({ status: 401 });
    expect(
      await post('/api/reseller/callback', Buffer.from(`{"ref_id":"${id}-1","status":"success"}`), {}),
    ).to.deep.include({ status: 401 });
    const [forged, unknown] = [
      await h2hCallback(`${id}-1`, 'success', 'guess'),
      await h2hCallback('nobody-1', 'success'),
    ];
    expect({ ...unknown.body, request_id: '' }, 'the same answer as to a forged callback').to.deep.equal({
      ...forged.body,
      request_id: '',
    });
    expect(unknown.status).to.equal(401);
    expect(await post('/api/reseller/callback', Buffer.from('{"ref_id":{"$gt":""}}'), {})).to.deep.include({
      status: 400,
    });
    expect(
      await post(
        '/api/providers/digiflazz/callback',
        digiflazz.webhook(`${id}-1`).raw,
        digiflazz.webhook(`${id}-1`).headers,
      ),
    ).to.deep.include({ status: 401 });
    expect(await transactionOf(stack, id)).to.include({ status: 'PROCESSING' });
    await waitUntilFinal(stack, id);
  });

  it('a valid callback triggers a status check, whose result decides', async () => {
    await stack.simulator.control({ pending_ms: 3_000 });
    const id = await purchase(buyer, code, '081234561234');
    await eventually(
      'the order is pending',
      async () => (await attemptsOf(stack, id))[0]?.status === 'UNKNOWN',
    );
    expect(await h2hCallback(`${id}-1`, 'success')).to.deep.equal({
      status: 200,
      body: { status: 'received' },
    });
    // The callback reports success, but the provider has refused an order to this number.
    const final = await waitUntilFinal(stack, id);
    expect(final).to.include({ status: 'FAILED', serialNumber: null });
  });

  it('a callback triggers a check before the scheduled one', async () => {
    await stack.simulator.control({ pending_ms: 9_000 });
    const id = await purchase(buyer, code, '081234561233');
    // The checks after 1, 3 and 7 s return "pending". The next check is due after 15 s.
    const attempt = await eventually('three checks', async () => {
      const [first] = await attemptsOf(stack, id);
      return first && first.checks >= 3 ? first : null;
    });
    // Sending the same order again returns only its status.
    const order = { username: simulated.username, code, customer: '081234561233', ref_id: `${id}-1` };
    await waitForStatus('00', stack.simulator, '/request', order, 15_000);
    expect((await h2hCallback(`${id}-1`, 'success')).status).to.equal(200);
    const final = await waitUntilFinal(stack, id, 5_000);
    expect(final.status).to.equal('SUCCESS');
    expect((final.finalAt?.getTime() ?? 0) - (attempt.sentAt?.getTime() ?? 0)).to.be.below(14_000);
  });

  it('Digiflazz: responds to a ping and accepts a webhook only with its signature', async () => {
    const flazzCode = await addProduct(stack, [{ sellerId: flazz.id, price: 12_000 }]);
    expect(
      (await post('/api/providers/digiflazz/callback', Buffer.from('{"sed":"x","hook":{}}'), {})).status,
    ).to.equal(200);
    const id = await purchase(buyer, flazzCode, '087800001230');
    await waitUntilFinal(stack, id);
    const { raw, headers } = digiflazz.webhook(`${id}-1`);
    expect((await post('/api/providers/digiflazz/callback', raw, headers)).status).to.equal(200);
    expect(
      (await post('/api/providers/digiflazz/callback', raw, { ...headers, 'x-hub-signature': 'sha1=00' }))
        .status,
    ).to.equal(401);
    expect(await transactionOf(stack, id)).to.include({ status: 'SUCCESS', serialNumber: '1234567890' });
  });

  it('reverses a sale once on a Digiflazz refund (rc 74), and restores all balances', async () => {
    const flazzCode = await addProduct(stack, [{ sellerId: flazz.id, price: 12_345 }]);
    const before = await eventually('all sales are posted', async () => {
      const ledger = await ledgerOf(stack);
      const open = [simulated, flazz].map(({ id }) => ledger.sums[`payable:${id}`] ?? 0);
      return open.every((sum) => sum === 0) ? ledger : null;
    });
    const id = await purchase(buyer, flazzCode, '087800001230');
    const sold = await waitUntilFinal(stack, id);
    // Backdate the order, so that the minimum interval permits a status check.
    await stack.db
      .collection<{ _id: string }>('attempts')
      .updateOne({ _id: `${id}-1` }, { $set: { sentAt: new Date(Date.now() - 120_000) } });
    const raw = Buffer.from(JSON.stringify({ data: { ref_id: `${id}-1`, status: 'Gagal', rc: '74' } }));
    const hex = createHmac('sha1', digiflazz.webhookSecret).update(raw).digest('hex');
    digiflazz.answerNextWith({ rc: '74' });
    const headers = { 'x-hub-signature': `sha1=${hex}` };
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => post('/api/providers/digiflazz/callback', raw, headers)),
    );
    expect(answers.map(({ status }) => status)).to.deep.equal([200, 200, 200, 200, 200]);
    const reversed = await eventually('the reversal', async () => {
      const found = await transactionOf(stack, id);
      return found?.status === 'REFUNDED' ? found : null;
    });
    expect(reversed.version).to.equal(sold.version + 1);
    const after = await eventually('the seller is debited', async () => {
      const ledger = await ledgerOf(stack);
      const isDebited =
        ledger.wallets[flazz.id] === (before.wallets[flazz.id] ?? 0) &&
        (ledger.sums[`payable:${flazz.id}`] ?? 0) === 0;
      return isDebited && ledger;
    });
    expect(after.sums['platform:revenue'] ?? 0).to.equal(before.sums['platform:revenue'] ?? 0);
    expect(after.wallets).to.deep.equal(before.wallets);
    expect(Object.values(after.sums).reduce((total, sum) => total + sum, 0)).to.equal(0);
    const callback = await stack.inbox.waitFor(
      ({ raw: body }) => body.includes(id) && body.includes('REFUNDED'),
    );
    expect(JSON.parse(callback.raw)).to.include({ code: id, status: 'REFUNDED' });
  });

  it('a callback that contradicts a final sale opens a case and moves no money', async () => {
    const id = await purchase(buyer, code, '081234561230');
    const sold = await waitUntilFinal(stack, id);
    await h2hCallback(`${id}-1`, 'failed');
    // The status check still returns success, so the purchase does not change.
    expect((await transactionOf(stack, id))?.version).to.equal(sold.version);
    const refused = await purchase(buyer, code, '081234561232');
    await waitUntilFinal(stack, refused);
    await h2hCallback(`${refused}-1`, 'success');
    const found = await stack.db.collection<ReconciliationCase>('cases').findOne({ transactionId: refused });
    expect(found).to.include({ kind: 'contradicting-answer', resolvedAt: null });
    expect(await transactionOf(stack, refused)).to.include({ status: 'FAILED' });
  });

  it('five shuffled copies of every callback, some forged, have the effect of one', async () => {
    await stack.simulator.control({ pending_ms: 2_000 });
    const endings = ['1230', '1232', '1233', '1234'];
    const ids = await Promise.all(
      Array.from({ length: 40 }, (_, index) =>
        purchase(buyer, code, `0812${1_000 + index}${endings[index % 4] ?? ''}`),
      ),
    );
    await eventually('every order is sent', async () => {
      const sent = await stack.db
        .collection('attempts')
        .countDocuments({ transactionId: { $in: ids }, sentAt: { $type: 'date' } });
      return sent === ids.length;
    });
    const resultOf = (id: string) => (ids.indexOf(id) % 2 === 0 ? 'success' : 'failed');
    const storm = ids.flatMap((id) => [
      () => h2hCallback(`${id}-1`, 'pending'),
      ...Array.from({ length: 5 }, () => () => h2hCallback(`${id}-1`, resultOf(id))),
      () => h2hCallback(`${id}-1`, resultOf(id) === 'success' ? 'failed' : 'success', 'forged'),
    ]);
    const order = storm
      .map((call, index) => ({ call, key: (index * 7_919) % 1_009 }))
      .sort((a, b) => a.key - b.key);
    const statuses: number[] = [];
    for (const { call } of order) {
      statuses.push((await call()).status);
    }
    // All callbacks come from one address. The limit for invalid callbacks does not block valid
    // ones.
    expect(statuses.filter((status) => [401, 429].includes(status))).to.have.length(ids.length);
    expect(statuses.filter((status) => status === 200)).to.have.length(ids.length * 6);
    for (const id of ids) {
      const final = await waitUntilFinal(stack, id);
      expect(final.status).to.equal(resultOf(id) === 'success' ? 'SUCCESS' : 'FAILED');
      // The version is 0 when accepted, 1 when sent and 2 when concluded.
      expect(final.version, id).to.equal(2);
      expect(await attemptsOf(stack, id)).to.have.length(1);
    }
    const log = await stack.simulator.log({ provider: 'callbacks' });
    const executed = log.filter((row) => ids.some((id) => row.ref_id === `${id}-1`));
    expect(executed).to.have.length(ids.length / 2);
    const journals = await stack.db.collection('journals').countDocuments({ subjectId: { $in: ids } });
    expect(journals, 'a purchase and a result per order').to.equal(ids.length * 2);
  });

  it("does not find an order by the client's reference", async () => {
    const { status } = await h2hCallback(uniqueRef(), 'success');
    expect(status, 'refused, or over the limit').to.be.oneOf([401, 429]);
  });
});
