import { connect } from 'node:net';
import { expect } from 'chai';
import { limits } from '../../../config/limits.js';
import { listRequestsFor } from '../../../src/api/account/list-requests.js';
import { loggedRequests } from '../../../src/request-log/logged-request.model.js';
import { writeRequestLog } from '../../../src/request-log/log-request.js';
import { redactBody } from '../../../src/request-log/redact-body.js';
import { uniqueRef } from '../../support/api-client.js';
import { eventually } from '../../support/eventually.js';
import { useSettings } from '../../support/use-settings.js';
import { useApi, type ApiAccount } from '../support/api.js';
import { newProduct } from '../support/catalogue.js';
import { expectSuccess } from '../support/expect-answer.js';
import { hmacSign, requestPath } from '../support/reseller.js';

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- Checked against the contract where it is read.
type Row = any;

describe('GET /api/<role>/requests', () => {
  const api = useApi();
  useSettings({ RESELLER_SYNC_WAIT_MS: 20 });

  async function list(
    { account, key }: ApiAccount,
    query = '',
  ): Promise<{ requests: Row[]; next_cursor: string }> {
    const answer = await api.call({ path: `/api/${account.role}/requests${query}`, key });
    expectSuccess(answer, listRequestsFor(account.role));
    return answer.body.data as never;
  }
  /** Waits until the account has at least `count` calls and returns them. */
  const listed = (of: ApiAccount, count: number, query = ''): Promise<Row[]> =>
    eventually(`the log has ${count} calls`, async () => {
      const { requests } = await list(of, query);
      return requests.length >= count ? requests : null;
    });
  const buy = ({ key }: ApiAccount, body: object) =>
    api.call({ method: 'POST', path: '/v1/transactions', key, body });

  it('returns requests and responses, newest first, only to their account', async () => {
    const product = await newProduct(api, { price: 10_000 });
    const [buyer, other] = [await api.newBuyer(15_000), await api.newBuyer(15_000)];
    const refs = [uniqueRef(), uniqueRef()];
    for (const ref of refs) {
      await buy(buyer, { product_code: product._id, destination: '081234561230', ref_id: ref });
    }
    const [refused, accepted] = await listed(buyer, 2);
    expect(accepted).to.include({
      method: 'POST',
      path: '/v1/transactions',
      http_status: 201,
      code: '00',
      reason: null,
      ref_id: refs[0],
    });
    expect(accepted.request).to.deep.equal({
      product_code: product._id,
      destination: '********1230',
      ref_id: refs[0],
    });
    expect(accepted.response.data).to.include({ status: 'PENDING', price: 10_000, ref_id: refs[0] });
    expect(refused).to.include({
      http_status: 402,
      code: '01',
      reason: 'insufficient_balance',
      ref_id: refs[1],
    });
    expect(refused.response.message).to.match(/balance/i);
    expect(refused.response.data_hint).to.deep.equal({ balance: 5_000, price: 10_000 });
    expect(refused.response.request_id).to.equal(refused.request_id);
    expect((await list(other)).requests).to.deep.equal([]);

    expect((await listed(buyer, 1, '?failed=true')).map(({ ref_id: ref }: Row) => ref)).to.deep.equal([
      refs[1],
    ]);
    expect((await listed(buyer, 1, `?ref_id=${refs[0]}`)).length).to.equal(1);
    const first = await list(buyer, '?limit=1');
    const second = await list(buyer, `?limit=1&cursor=${first.next_cursor}`);
    const { requests: local } = await list(buyer, '?limit=1&tz=Asia/Jakarta');
    expect(local[0]?.at).to.match(/\+07:00$/);
    expect([...first.requests, ...second.requests].map(({ ref_id: ref }) => ref)).to.deep.equal([
      refs[1],
      refs[0],
    ]);
    expect(second.next_cursor).to.equal(null);
  });

  it('stores no key, token, secret, sign, URL or customer number', async () => {
    const product = await newProduct(api, { price: 10_000 });
    const buyer = await api.newBuyer(100_000);
    const { account, key, webhookSecret } = buyer;
    const number = '081234561239';
    const url = 'https://hidden.example/hook?token=hush';
    const login = await api.call({ method: 'POST', path: '/v1/auth/login', key });
    const rotated = await api.call({ method: 'POST', path: '/api/buyer/api/keys/rotate', key, body: {} });
    const newKey = rotated.body.data.api_key as string;
    const config = {
      method: 'POST',
      path: '/api/buyer/api/config',
      key: newKey,
      body: { webhook_url: url },
    } as const;
    await api.call(config);
    await api.call({ path: '/api/buyer/api/config', key: newKey });
    await buy(buyer, {
      product_code: product._id,
      destination: number,
      ref_id: uniqueRef(),
      note: number,
      [number]: 1,
    });
    // The number with the wrong type, in the wrong field, and nested in another value.
    await buy(buyer, {
      product_code: product._id,
      destination: 81234561239,
      ref_id: uniqueRef(),
      a: { b: [81234561239] },
    });
    const signing = { username: account.username, key: newKey };
    const purchase = { code: product._id, customer: number, ref_id: uniqueRef() };
    await api.call({ path: requestPath(signing, purchase) });
    await listed({ ...buyer, key: newKey }, 7);

    const stored = JSON.stringify(await loggedRequests.find({ accountId: account._id }).toArray());
    const sign = hmacSign(signing, `${purchase.code}|${number}|${purchase.ref_id}`);
    const secrets = {
      key,
      newKey,
      webhookSecret,
      sign,
      number,
      url,
      plain: '81234561239',
      name: account.username,
    };
    for (const [what, secret] of Object.entries({
      ...secrets,
      token: login.body.data.access_token as string,
    })) {
      expect(stored.includes(secret), what).to.equal(false);
    }
    expect(stored).to.include(purchase.ref_id);
  });

  it('accepts malformed request targets and stores no key or number from them', async () => {
    const buyer = await api.newBuyer();
    const { hostname, port } = new URL(api.url());
    const send = (target: string) =>
      new Promise<string>((resolve, reject) => {
        const socket = connect(Number(port), hostname, () =>
          socket.write(
            `GET ${target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nAuthorization: Bearer ${buyer.key}\r\n\r\n`,
          ),
        );
        let answer = '';
        socket.on('data', (chunk) => (answer += chunk.toString()));
        socket.on('end', () => resolve(answer)).on('error', reject);
      });
    expect(await send('http://x:99999/v1/wallet/balance')).to.match(/^HTTP\/1.1 200/);
    await send('http://somebody:hush-hush@h/v1/wallet/balance');
    await send(`/v1/transactions/${buyer.key}`);
    await send('/v1/transactions/089912345678');
    const hidden = (text: string) => text.replaceAll('_', '%5F');
    await send(`/v1/transactions/${hidden(buyer.key)}`);
    await send(`/v1/transactions/${encodeURIComponent(encodeURIComponent(hidden(buyer.key)))}`);
    const rows = await listed(buyer, 6);
    expect(rows.map(({ path }: Row) => path)).to.deep.equal([
      '/v1/transactions/bk_test_***',
      '/v1/transactions/bk_test_***',
      '/v1/transactions/********5678',
      '/v1/transactions/bk_test_***',
      '/v1/wallet/balance',
      '/v1/wallet/balance',
    ]);
    const stored = JSON.stringify(await loggedRequests.find({ accountId: buyer.account._id }).toArray());
    for (const secret of [buyer.key, buyer.key.slice(-20), 'hush-hush', '089912345678']) {
      expect(stored.includes(secret), secret).to.equal(false);
    }
  });

  it('stores a value only in its own field and format, and bodies only of POSTs', async () => {
    const buyer = await api.newBuyer();
    const { key } = buyer;
    const number = '089912345678';
    for (const body of [
      { code: key, ref_id: key, customer_number: number },
      { code: { status: number }, ref_id: [[number]], customer_number: { code: number } },
      { code: 'S10', max_price: number, customer_number: '0812', ref_id: 'k2' },
    ]) {
      await api.call({ method: 'POST', path: '/api/buyer/transaction?code=OTHER&ref_id=other', key, body });
    }
    for (const query of [`cursor=${key}`, `status=${number}`, `tz=https://u:pw@h?token=hush`]) {
      await api.call({ path: `/api/buyer/deposits?${query}`, key });
    }
    const rows = await listed(buyer, 6);
    const stored = JSON.stringify(await loggedRequests.find({ accountId: buyer.account._id }).toArray());
    for (const secret of [key, number, 'hush', 'u:pw']) {
      expect(stored.includes(secret), secret).to.equal(false);
    }
    expect(rows.find(({ ref_id: ref }: Row) => ref === 'k2').request).to.deep.equal({
      code: 'S10',
      max_price: '<text of 12>',
      customer_number: '**12',
      ref_id: 'k2',
    });
  });

  it('marks a refused reseller call with HTTP 200 as failed', async () => {
    const buyer = await api.newBuyer();
    const signing = { username: buyer.account.username, key: buyer.key };
    const purchase = { code: 'NO-SUCH-PRODUCT', customer: '081234561230', ref_id: uniqueRef() };
    await api.call({ path: requestPath(signing, purchase) });
    const [row] = await listed(buyer, 1, '?failed=true');
    expect(row).to.include({
      method: 'GET',
      path: '/api/reseller/request',
      http_status: 200,
      code: '02',
      reason: 'product_not_found',
      ref_id: purchase.ref_id,
    });
    expect(row.request).to.include({ code: 'NO-SUCH-PRODUCT', customer: '********1230' });
    expect(row.response.status, 'reseller status').to.equal('02');
    expect(row.response.message).to.be.a('string').that.does.not.match(/^</);
  });

  it('stores the first failures and successes of a busy minute, up to a limit each', async () => {
    const buyer = await api.newAccount('buyer', { rateLimit: 1_000, rateLimitMax: null });
    const call = (path: string) => api.call({ path, key: buyer.key });
    // The calls may fall into two minutes. Send more than the log keeps for two.
    const times = 2 * limits.loggedFailuresPerMinute + 10;
    await Promise.all(
      Array.from({ length: times }, () =>
        Promise.all([call('/v1/wallet/balance'), call('/v1/transactions/none')]),
      ),
    );
    const counted = async (failed: boolean) =>
      loggedRequests.countDocuments({ accountId: buyer.account._id, failed });
    await eventually(
      'the failures are written',
      async () => (await counted(true)) >= limits.loggedFailuresPerMinute,
    );
    expect(await counted(true)).to.be.below(times);
    expect(await counted(false)).to.be.within(limits.loggedSuccessesPerMinute, times - 1);
  });

  it('removes entries after the retention period and does not log reads of the log', async () => {
    const seller = await api.newAccount('seller');
    await api.call({ path: '/api/seller/balance', key: seller.key });
    const [row] = await listed(seller, 1);
    expect(row.path).to.equal('/api/seller/balance');
    await list(seller);
    await api.call({ path: '/api/seller/products', key: seller.key });
    const paths = (await listed(seller, 2)).map(({ path }: Row) => path);
    expect(paths).to.deep.equal(['/api/seller/products', '/api/seller/balance']);
    const stored = await loggedRequests.findOne({ accountId: seller.account._id });
    expect(Number(stored?.expiresAt) - Number(stored?.createdAt)).to.equal(24 * 3_600_000);
    const indexes = await loggedRequests.indexes();
    expect(indexes.find(({ name }) => name === 'expires')).to.include({ expireAfterSeconds: 0 });
  });

  describe('with REQUEST_LOG_HOURS=0', () => {
    useSettings({ REQUEST_LOG_HOURS: 0 });

    it('stores nothing and reports kept_hours 0', async () => {
      const buyer = await api.newBuyer();
      await api.call({ path: '/v1/wallet/balance', key: buyer.key });
      await writeRequestLog();
      const answer = await list(buyer);
      expect(answer).to.deep.equal({ requests: [], kept_hours: 0, next_cursor: null });
    });
  });
});

describe('redaction of bodies in the request log', () => {
  it('limits the size of any body', () => {
    const deep = JSON.parse(`${'{"a":'.repeat(50)}1${'}'.repeat(50)}`) as object;
    expect(redactBody(deep)).to.equal('{"a":"<object>"}');
    expect(redactBody({ ref_ids: Array.from({ length: 100 }, () => 'x'.repeat(64)) })).to.include(
      '<97 more>',
    );
    const wide = (levels: number): object => ({
      ref_id: 'x'.repeat(64),
      ...(levels > 0 &&
        Object.fromEntries(['data', 'period', 'summary', 'attempt'].map((name) => [name, wide(levels - 1)]))),
    });
    expect(redactBody(wide(5))?.length).to.be.below(100);
    expect(redactBody({ message: 'said', other: 'hidden' }, ['message'])).to.equal(
      '{"message":"said","other":"<text of 6>"}',
    );
    expect(redactBody({ max_price: 2 ** 53, price: 1_000, amount: 1.5 })).to.equal(
      '{"max_price":"<number of 16>","price":1000,"amount":"<number of 3>"}',
    );
    expect(redactBody(null)).to.equal(null);
  });
});
