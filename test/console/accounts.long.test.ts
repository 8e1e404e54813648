import { inflateSync } from 'node:zlib';
import { expect } from 'chai';
import { apiClient } from '../support/api-client.js';
import { csvRows } from '../support/csv.js';
import { topup } from '../support/topup.js';
import { callerAs, reason, type Caller } from './support/console-caller.js';
import { startOperatedStack, type OperatedStack } from './support/operated-stack.js';

describe('accounts in the console', function () {
  this.timeout(90_000);
  let shop: OperatedStack;
  let caller: Caller;

  before(async () => {
    shop = await startOperatedStack();
    caller = await callerAs(shop, 'admin');
  });
  after(() => shop.stack.stop());

  const make = (body: object) => caller.ask('createAccount', '/accounts', { role: 'buyer', reason, ...body });
  const asBuyer = (key: string) => apiClient(shop.stack.baseUrl, key);
  const statusWith = async (key: string) => (await asBuyer(key).get('/api/buyer/deposits')).status;
  const accountOf = (username: string) => shop.stack.db.collection('accounts').findOne({ username });

  it('creates a buyer, shows its key once and refuses a used username', async () => {
    const made = await make({ username: 'toko-baru' });
    expect(made).to.include({ username: 'toko-baru', role: 'buyer' });
    expect(await statusWith(made.api_key)).to.equal(200);
    const entry = await caller.expectAudited(made.id, 'account.create');
    const shown = await caller.call('/accounts/toko-baru');
    const stored = JSON.stringify([await accountOf('toko-baru'), entry]) + shown.text;
    expect(stored).to.not.include(made.api_key).and.not.include(made.webhook_secret);
    const both = await Promise.all(
      [1, 2].map(() => caller.call('/accounts', { username: 'toko-sekali', role: 'buyer', reason })),
    );
    expect(both.map(({ status }) => status).sort()).to.deep.equal([200, 409]);
  });

  it('creates a seller with an encrypted provider secret and refuses invalid input', async () => {
    const provider = {
      kind: 'h2h',
      base_url: 'https://pulsa.example/api',
      username: 'kami',
      secret: 'rahasia-81',
    };
    const made = await make({ username: 'grosir-baru', role: 'seller', provider });
    const stored = await accountOf('grosir-baru');
    expect(stored?.['provider']).to.include({ kind: 'h2h', baseUrl: provider.base_url, username: 'kami' });
    expect(JSON.stringify([stored, await caller.lastAudit(made.id)])).to.not.include(provider.secret);
    for (const wrong of [
      { username: 'x' },
      { username: 'Toko Sari' },
      { username: 'pembeli-1', role: 'owner' },
      { username: 'pembeli-1', provider },
      { username: 'penjual-1', role: 'seller', provider: { ...provider, base_url: null } },
      { username: 'penjual-1', role: 'seller', provider: { ...provider, base_url: 'file:///etc' } },
      { username: 'pembeli-1', reason: ' ' },
    ]) {
      const answer = await caller.call('/accounts', { role: 'buyer', reason, ...wrong });
      expect(answer.status, JSON.stringify(wrong)).to.equal(400);
    }
  });

  it('revokes a single key, also the current one, and allows a new one afterwards', async () => {
    const { api_key: first, id } = await make({ username: 'toko-kunci' });
    const to = '/accounts/toko-kunci';
    const { api_key: second } = await caller.ask('newKey', `${to}/key`, { overlap_minutes: 60, reason });
    expect([await statusWith(first), await statusWith(second)]).to.deep.equal([200, 200]);
    const [current, old] = (await caller.ask('getAccount', to)).keys;
    const revoke = (key: { id: string }) =>
      caller.ask('revokeKey', `${to}/revoke-key`, { key_id: key.id, reason });
    expect(await revoke(old)).to.deep.equal({ changed: true, was_current: false });
    await caller.expectAudited(id, 'api-key.revoke');
    expect([await statusWith(first), await statusWith(second)]).to.deep.equal([401, 200]);
    expect(await revoke(old)).to.deep.equal({ changed: false, was_current: false });
    const run = (...args: string[]) => topup(['key', 'revoke', ...args, '--reason', reason], shop.stack.env);
    const result = await run('toko-kunci', current.id);
    expect([result.code, result.stdout]).to.satisfy(([code, text]: [number, string]) => {
      return code === 0 && text.includes('has no current key now');
    });
    expect(await statusWith(second)).to.equal(401);
    expect((await accountOf('toko-kunci'))?.['linkEpoch']).to.equal(2);
    const { api_key: third } = await caller.ask('newKey', `${to}/key`, { overlap_minutes: 0, reason });
    expect([await statusWith(second), await statusWith(third)]).to.deep.equal([401, 200]);
    const [own] = (await caller.ask('getAccount', '/accounts/buyer')).keys;
    const answer = await caller.call(`${to}/revoke-key`, { key_id: own.id, reason });
    expect(answer.status, 'key of another account').to.equal(404);
    expect((await run('toko-kunci', 'nothing')).code).to.equal(1);
  });

  it('a statement has every movement once as pages, CSV and CSV for Excel', async () => {
    await make({ username: 'toko-mutasi' });
    const amounts = Array.from({ length: 205 }, (_, n) => (n % 5 === 4 ? -100 : 1_000 + n));
    for (const amount of amounts) {
      await caller.ask('requestAdjustment', '/adjustments', { account: 'toko-mutasi', amount, reason });
    }
    const total = amounts.reduce((sum, amount) => sum + amount, 0);
    const path = '/accounts/toko-mutasi/statement';
    const read: number[] = [];
    const left: number[] = [];
    for (let after: string | null = ''; after !== null;) {
      const page = await caller.ask('getStatement', `${path}${after === '' ? '' : `?after=${after}`}`);
      expect(page).to.include({ opening_balance: 0, closing_balance: total });
      read.push(...page.entries.map((each: { amount: number }) => each.amount));
      left.push(page.left);
      after = page.next;
    }
    expect(read).to.deep.equal(amounts);
    expect(left).to.deep.equal([105, 5, 0]);
    const { next } = await caller.ask('getStatement', path);
    expect((await caller.call(`/accounts/buyer2/statement?after=${next}`)).status, 'foreign cursor').to.equal(
      400,
    );
    expect((await caller.call(`${path}?after=anything`)).status).to.equal(400);

    for (const format of ['csv', 'csv-excel']) {
      const csv = await caller.client.get(`/admin${path}.csv?format=${format}`);
      expect(csv.status).to.equal(200);
      const [head, ...rows] = csvRows(csv.text);
      const amount = head?.indexOf('amount') ?? -1;
      expect(
        rows.map((row) => Number(row[amount])),
        format,
      ).to.deep.equal(amounts);
      expect(rows[0]?.[0]).to.match(/\+07:00/);
    }
    const id = (await accountOf('toko-mutasi'))?._id as unknown as string;
    const entry = await caller.lastAudit(id);
    expect(entry).to.include({ action: 'statement.export', actor: `operator:${caller.username}` });
    expect(entry?.['after'].format).to.equal('csv-excel');
  });

  it('the PDF has every movement, in the requested language and business time', async () => {
    const get = (query: string) =>
      fetch(`${shop.stack.baseUrl}/admin/accounts/toko-mutasi/statement.pdf${query}`, {
        headers: { cookie: `topup_admin=${caller.client.cookie('topup_admin') ?? ''}` },
      });
    for (const [query, words] of [
      ['', ['Statement: toko-mutasi', 'Opening balance', 'adjustment', 'Asia/Jakarta', 'Page 1/']],
      ['?lang=id', ['Mutasi: toko-mutasi', 'Saldo awal', 'koreksi', 'Halaman 1/']],
    ] as const) {
      const answer = await get(query);
      expect([answer.status, answer.headers.get('content-type')]).to.deep.equal([200, 'application/pdf']);
      const text = textOf(Buffer.from(await answer.arrayBuffer()));
      for (const word of words) {
        expect(text).to.include(word);
      }
      expect(text.match(/(adjustment|koreksi) /g)).to.have.length(205);
      expect(text).to.include('-Rp 100').and.include('Rp 1.203');
    }
    expect((await get('?from=2020-01-02&to=2020-01-01')).status).to.equal(400);
  });
});

/** Returns the text of all pages, line by line. */
function textOf(pdf: Buffer): string {
  const bytes = pdf.toString('latin1');
  const streams = [...bytes.matchAll(/stream\r?\n([\s\S]*?)\r?\nendstream/g)].map(([, part = '']) =>
    inflateSync(Buffer.from(part, 'latin1')).toString('latin1'),
  );
  return streams
    .flatMap((stream) => [...stream.matchAll(/<([0-9A-F]+)> Tj/gi)])
    .map(([, hex = '']) => Buffer.from(hex, 'hex').toString('latin1'))
    .join('\n');
}
