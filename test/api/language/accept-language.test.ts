/** The language of response messages. */
import { expect } from 'chai';
import { DeliveryModel } from '../../../src/webhooks/deliver/delivery.model.js';
import { uniqueRef, type Answer } from '../../support/api-client.js';
import { topup } from '../../support/topup.js';
import { subscribeToChanges } from '../../../src/redis/subscribe-changes.js';
import { useApi, type ApiAccount, type ApiCall } from '../support/api.js';
import { newProduct } from '../support/catalogue.js';
import { hmacSign, pathOf, requestPath } from '../support/reseller.js';
import { englishWordIn } from './english-words.js';

describe('language of responses', () => {
  const api = useApi();
  before(subscribeToChanges);

  const inLanguage = (acceptLanguage: string | null, call: ApiCall) =>
    api.call({
      ...call,
      headers: { ...call.headers, ...(acceptLanguage !== null && { 'accept-language': acceptLanguage }) },
    });
  const refusal = { path: '/v1/wallet/balance', key: 'nobody' };

  it('follows the weights of Accept-Language and defaults to English', async () => {
    const expected: [string | null, string][] = [
      [null, 'en'],
      ['id', 'id'],
      ['ID', 'id'],
      ['id-ID', 'id'],
      ['id-ID,id;q=0.9,en;q=0.8', 'id'],
      ['en-US,en;q=0.9,id;q=0.8', 'en'],
      ['en;q=1, id;q=0.5', 'en'],
      ['en;q=0.2, id;q=0.5', 'id'],
      ['jv, id;q=0.3', 'id'],
      ['id;q=0', 'en'],
      ['id;q=0, *', 'en'],
      ['en;q=0, *', 'id'],
      ['*', 'en'],
      ['fr, de;q=0.5', 'en'],
      ['', 'en'],
      [';;;q=,,id;q=x', 'en'],
      ['x'.repeat(4_000), 'en'],
    ];
    for (const [header, language] of expected) {
      const answer = await inLanguage(header, refusal);
      const shown = `${header ?? 'none'}: ${JSON.stringify(answer.body)}`;
      expect(answer.headers['content-language'], shown).to.equal(language);
      expect(answer.headers['vary'], shown).to.match(/Accept-Language/);
      expect(answer.body, shown).to.include({ code: '07', reason: 'invalid_key' });
      expect(englishWordIn(String(answer.body.message)) === null, shown).to.equal(language === 'id');
    }
  });

  it('changes only the message of a failure, on every surface', async () => {
    const { _id: code } = await newProduct(api);
    const bill = await newProduct(api, { category: 'pascabayar', customerNumber: { kind: 'bill' } });
    const poor = await api.newBuyer(1_000);
    const rich = await api.newBuyer(1_000_000);
    const seller = await api.newAccount('seller');
    const suspended = await api.newAccount('buyer', { status: 'suspended' });
    const guarded = await api.newAccount('buyer', { ipWhitelist: ['203.0.113.0/24'] });
    const limited = await api.newAccount('buyer', { rateLimit: 1 });
    await api.call({ path: '/v1/wallet/balance', key: limited.key });
    const maintained = await newProduct(api, { status: 'maintenance' });
    const used = uniqueRef();
    const order = { code, customer_number: '081234567890', ref_id: used };
    const buy = (by: ApiAccount, over: object) => ({
      path: '/api/buyer/transaction',
      key: by.key,
      body: { ...order, ref_id: uniqueRef(), ...over },
    });
    await api.call({ path: '/api/buyer/transaction', key: rich.key, body: order });
    const config = (body: object, key = rich.key) => ({ path: '/api/buyer/api/config', key, body });
    const calls: [reason: string, call: ApiCall][] = [
      ['invalid_request', buy(poor, { ref_id: '', customer_number: 5, max_price: -1 })],
      ['invalid_request', buy(poor, { code: 'x'.repeat(200) })],
      ['invalid_request', { path: '/v1/products?category=a&category=b', key: poor.key }],
      ['invalid_request', config({ ip_whitelist: ['x', 'y'], rate_limit: 0, language: 'fr' })],
      ['invalid_request', config({ ip_whitelist: ['203.0.113.9'] })],
      ['malformed_body', { path: '/api/buyer/deposit', key: poor.key, raw: '{' }],
      ['malformed_body', { path: '/api/buyer/deposit', key: poor.key, raw: '[]' }],
      ['body_too_large', { path: '/api/buyer/deposit', key: poor.key, raw: `"${'x'.repeat(120_000)}"` }],
      [
        'unsupported_media_type',
        { path: '/api/buyer/deposit', key: poor.key, raw: 'a=1', headers: { 'content-type': 'text/plain' } },
      ],
      ['wrong_product_kind', buy(poor, { code: bill._id })],
      ['credentials_missing', { path: '/v1/wallet/balance' }],
      ['invalid_key', refusal],
      ['insufficient_balance', buy(poor, {})],
      ['insufficient_balance', settlement(seller)],
      ['address_not_allowed', { path: '/v1/wallet/balance', key: guarded.key }],
      ['wrong_role', { path: '/api/seller/balance', method: 'GET', key: poor.key }],
      ['account_suspended', { path: '/v1/wallet/balance', key: suspended.key }],
      ['not_found', { path: '/v1/transactions/none', key: poor.key }],
      ['not_found', { path: '/nowhere' }],
      ['not_found', { path: '/docs/nowhere' }],
      ['not_found', { path: '/api/buyer/api/webhooks/none', key: poor.key }],
      ['product_not_found', buy(poor, { code: 'NONE' })],
      ['method_not_allowed', { path: '/v1/transactions', method: 'PUT', key: poor.key }],
      ['ref_id_conflict', buy(rich, { ref_id: used, customer_number: '081234567891' })],
      ['price_above_max', buy(rich, { max_price: 1 })],
      [
        'product_code_taken',
        {
          path: '/api/seller/products',
          key: seller.key,
          body: { code, name: 'X', category: 'prabayar', subcategory: 'pulsa', price: 1_000 },
        },
      ],
      ['invalid_customer_number', buy(poor, { customer_number: '0812' })],
      ['invalid_customer_number', buy(poor, { customer_number: '089934567890' })],
      ['rate_limited', { path: '/v1/wallet/balance', key: limited.key }],
      ['product_unavailable', buy(rich, { code: maintained._id })],
      ['invalid_token', { path: '/v1/wallet/balance', key: 'at_x' }],
    ];
    for (const [reason, call] of calls) {
      const [en, id] = [await inLanguage('en', call), await inLanguage('id', call)];
      const shown = `${reason}: ${JSON.stringify(id.body)}`;
      expect(id.body.reason, shown).to.equal(reason);
      expect(withoutTexts(id), shown).to.deep.equal(withoutTexts(en));
      expect(id.headers['content-language'], shown).to.equal('id');
      expect(en.headers['content-language'], shown).to.equal('en');
      for (const text of wordsOf(id)) {
        expect(englishWordIn(text), shown).to.equal(null);
      }
      expect(wordsOf(id)[0], shown).to.not.equal(wordsOf(en)[0]);
    }
  });

  it('insufficient_balance states both amounts in Indonesian format in both languages', async () => {
    const { _id: code } = await newProduct(api, { price: 5_000 });
    const { key } = await api.newBuyer(1_000);
    const body = { code, customer_number: '081234567890', ref_id: uniqueRef() };
    const answer = await inLanguage('id', { path: '/api/buyer/transaction', key, body });
    expect(answer.body.message).to.match(/^Saldo tidak cukup\. Saldo Anda Rp 1\.000, harga Rp 5\.\d{3}\./);
    expect(answer.body.data_hint.balance).to.equal(1_000);
    expect((await inLanguage('en', { path: '/api/buyer/transaction', key, body })).body.message).to.match(
      /^Insufficient balance\. Your balance is Rp 1\.000, the price Rp 5\.\d{3}\. Deposit first/,
    );
  });

  it('a success message is translated; a response without one has no Content-Language', async () => {
    const { key } = await api.newBuyer();
    const body = { amount: 50_000, ref_id: uniqueRef() };
    const paid = await inLanguage('id', { path: '/api/buyer/deposit', key, body });
    expect(paid.body.message).to.equal('Deposit berhasil');
    expect(paid.headers['content-language']).to.equal('id');
    const list = await inLanguage('id', { path: '/v1/products', key });
    expect(list.headers).to.not.have.property('content-language');
    expect(list.headers['vary']).to.equal('Authorization');
    const english = await inLanguage('en', { path: '/v1/products', key });
    expect(list.headers['etag']).to.equal(english.headers['etag']);
    expect(list.body).to.deep.equal(english.body);
  });

  it('a repeat in another language is the same purchase with the same webhooks', async () => {
    const { _id: code } = await newProduct(api);
    const { account, key } = await api.newAccount('buyer', { webhookUrl: 'https://shop.example/hooks' });
    await api.call({ path: '/api/buyer/deposit', key, body: { amount: 100_000, ref_id: uniqueRef() } });
    const body = { code, customer_number: '081234567890', ref_id: uniqueRef() };
    const buy = (language: string, over = {}) =>
      inLanguage(language, { path: '/api/buyer/transaction', key, body: { ...body, ...over } });
    const [first, again] = [await buy('id'), await buy('en')];
    expect([first.body.message, again.body.message]).to.deep.equal([
      'Transaksi sedang diproses',
      'Known ref_id: the transaction as it is now',
    ]);
    expect(again.body.data).to.deep.equal(first.body.data);
    const other = { customer_number: '081234567891' };
    expect(withoutTexts(await buy('id', other))).to.deep.equal(withoutTexts(await buy('en', other)));
    const config = {
      path: '/api/buyer/api/config',
      key,
      body: { callback_url: null, ip_whitelist: ['::/0', '0.0.0.0/0'] },
    };
    expect((await inLanguage('id', config)).body.message).to.equal('Konfigurasi sudah diubah');
    const deliveries = await DeliveryModel.find({ accountId: account._id }).lean();
    expect(deliveries).to.not.deep.equal([]);
    for (const { body: sent } of deliveries) {
      expect(sent).to.not.match(/Transaksi|sedang|Konfigurasi|sudah/);
    }
  });

  it("reseller calls use the account's language and ignore the header", async () => {
    const { _id: code } = await newProduct(api);
    const buyer = await api.newBuyer(1_000);
    const signing = { username: buyer.account.username, key: buyer.key };
    const order = () => ({ code, customer: '081234567890', ref_id: uniqueRef() });
    const call = (header = 'en') => inLanguage(header, { path: requestPath(signing, order()) });
    const config = () => api.call({ path: '/api/buyer/api/config', key: buyer.key });
    const before = await call('id');
    expect(before.body).to.include({ status: '01', reason: 'insufficient_balance' });
    expect(before.body.message).to.match(/^Insufficient balance\. Your balance is Rp 1\.000, the price Rp/);
    expect(before.headers).to.include({ 'content-language': 'en' }).and.not.have.property('vary');
    expect((await config()).body.data.language).to.equal('en');
    const body = { language: 'id' };
    const changed = await api.call({ path: '/api/buyer/api/config', key: buyer.key, body });
    expect(changed.body.data.language).to.equal('id');
    expect((await config()).body.data.language).to.equal('id');
    const after = await call();
    expect(after.body).to.include({ status: '01', reason: 'insufficient_balance' });
    expect(after.body.message).to.match(/^Saldo tidak cukup\. Saldo Anda Rp 1\.000/);
    expect(after.headers).to.include({ 'content-language': 'id' }).and.not.have.property('vary');
    // The other calls use their own Accept-Language header. An account's language setting applies
    // only to callers with a valid sign.
    expect((await inLanguage('en', { ...refusal, key: buyer.key, path: '/v1/none' })).headers).to.include({
      'content-language': 'en',
    });
    const sign = hmacSign({ ...signing, key: 'wrong' }, 'depo');
    const unsigned = await api.call({ path: pathOf('balance', { username: signing.username, sign }) });
    expect(unsigned.headers['content-language']).to.equal('en');
    const run = await topup(
      ['account', 'set', signing.username, '--language', 'en', '--reason', 'a test', '--json'],
      process.env,
    );
    expect(run.json()['changed']).to.deep.equal(['language']);
    expect((await call('id')).body.message).to.match(/^Insufficient balance/);
  });

  it('responds to operator calls in English, whatever the header', async () => {
    const answer = await inLanguage('id', {
      path: '/admin/api/accounts/nobody',
      headers: { accept: 'application/json' },
    });
    expect([answer.status, answer.headers['content-language']]).to.deep.equal([401, 'en']);
    expect(answer.body.message).to.equal('Log in at /admin/login.');
  });
});

function settlement({ key }: ApiAccount): ApiCall {
  const bank_account = { bank_code: '014', account_number: '1234567890', account_name: 'Sari' };
  return { path: '/api/seller/settlement/request', key, body: { amount: 100_000, bank_account } };
}

/** Returns the fields of a response that programs depend on, without the message. */
function withoutTexts({ status, body }: Answer): unknown {
  const { message: _message, request_id: _id, errors, ...rest } = body as Record<string, unknown>;
  return { status, ...rest, fields: (errors as { field: string }[] | undefined)?.map(({ field }) => field) };
}

function wordsOf({ body }: Answer): string[] {
  return [body.message, ...((body.errors ?? []) as { message: string }[]).map(({ message }) => message)];
}
