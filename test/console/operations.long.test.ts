/** The console operations, with their effects on the ledger and the audit log. */
import { expect } from 'chai';
import { consoleOperations } from '../../src/console/api/operations.js';
import { apiClient } from '../support/api-client.js';
import { consoleClient, type ConsoleAnswer } from '../support/console-client.js';
import { eventually } from '../support/eventually.js';
import { expectLedgerToBalance } from '../support/ledger.js';
import { callerAs, json, reason, type Caller } from './support/console-caller.js';
import { startOperatedStack, type OperatedStack } from './support/operated-stack.js';

describe('operations of the console', function () {
  this.timeout(90_000);
  let shop: OperatedStack;
  let caller: Caller;

  before(async () => {
    shop = await startOperatedStack();
    caller = await callerAs(shop, 'admin');
  });
  after(() => shop.stack.stop());

  const ask: Caller['ask'] = (...asked) => caller.ask(...asked);
  const call: Caller['call'] = (...asked) => caller.call(...asked);
  const expectAudited: Caller['expectAudited'] = (...asked) => caller.expectAudited(...asked);
  const send = (path: string, body: string, headers: Record<string, string>) =>
    caller.client.send('POST', path, body, headers);

  const accountId = async (username: string) =>
    String((await shop.stack.db.collection('accounts').findOne({ username }))?._id);

  it('return every error in the standard envelope', async () => {
    const stranger = await consoleClient(shop.stack.baseUrl, '198.51.100.8').get('/admin/api/session', {
      accept: '*/*',
    });
    const wrong = {
      '/no-such-call': [await call('/no-such-call'), 404],
      '/session': [stranger, 401],
      '/purchases/nobody': [await call('/purchases/nobody'), 404],
      '/purchases?limit=0': [await call('/purchases?limit=0'), 400],
      '/purchases?after=x': [await call('/purchases?after=x'), 400],
      'POST /purchases': [await call('/purchases', {}), 405],
    } satisfies Record<string, [ConsoleAnswer, number]>;
    for (const [name, [answer, status]] of Object.entries(wrong)) {
      expect(answer.status, `${name} ${answer.text}`).to.equal(status);
      expect(JSON.parse(answer.text), name)
        .to.include({ status: 'error', data: null })
        .and.to.have.property('request_id');
      expect(answer.headers['cache-control'], name).to.equal('no-store');
    }
    const form = await send('/admin/api/cases/x/resolve', 'reason=x', {
      'x-xsrf-token': caller.client.cookie('XSRF-TOKEN') ?? '',
    });
    expect(form.status, 'form body').to.equal(415);
  });

  it('refuse a change without the CSRF token or a reason', async () => {
    const changes = consoleOperations.filter(({ method, asks }) => method === 'post' && !asks);
    expect(changes.length).to.be.greaterThan(8);
    for (const { path, action } of changes) {
      const url = `/admin/api${path.replace(/:\w+/g, 'buyer')}`;
      const forged = { ...json, 'x-xsrf-token': 'forged' };
      for (const headers of [json, forged]) {
        const answer = await send(url, JSON.stringify({ reason }), headers);
        expect(answer.status, `${path} ${answer.text}`).to.equal(403);
      }
      // Changes to the operator's own account need no reason.
      for (const given of action === 'own.change'
        ? []
        : [{}, { reason: '' }, { reason: '  ' }, { reason: '\u200b' }, { reason: 'x'.repeat(501) }]) {
        const body = {
          as: 'failed',
          overlap_minutes: 0,
          seller: 'buyer',
          price: 1,
          rupiah: 1,
          file: 'x',
          name: 'x',
          fingerprint: 'x',
          deposit_id: 'x',
          ids: ['x'],
          cut_off: null,
          date: '2026-01-31',
          bank_reference: 'x',
          key_id: 'x',
          account: 'buyer',
          group: 'x',
          amount: 1,
          kind: 'simulator',
          secret: 'x',
          username: 'somebody',
          role: path.startsWith('/operators') ? 'viewer' : 'buyer',
          password: 'x',
          session: null,
          ...given,
        };
        const answer = await send(url, JSON.stringify(body), caller.withToken());
        expect(answer.status, `${path} ${answer.text}`).to.equal(400);
        expect(JSON.parse(answer.text).errors[0].field).to.equal('reason');
      }
    }
  });

  it("return the session's user, permissions and business time zone", async () => {
    const session = await ask('getSession', '/session');
    expect(session).to.include({ username: caller.username, role: 'admin', time_zone: 'Asia/Jakarta' });
    expect(session.actions).to.include('review.resolve');
  });

  it('find a purchase by id, ref_id, serial or customer number in any spelling', async () => {
    const id = await shop.buySuccessfully();
    const stored = await shop.purchaseOf(id);
    const number = stored?.customerNumber ?? '';
    for (const wanted of [
      id,
      stored?.refId ?? '',
      number,
      `+62${number.slice(1)}`,
      `62 ${number.slice(1, 5)}-${number.slice(5)}`,
      stored?.serialNumber?.slice(0, -1) ?? '',
    ]) {
      const { purchases } = await ask('search', `/search?q=${encodeURIComponent(wanted)}`);
      expect(
        purchases.map((each: { id: string }) => each.id),
        wanted,
      ).to.include(id);
    }
    const { accounts, purchases } = await ask('search', '/search?q=Buye');
    expect(accounts.map((each: { username: string }) => each.username)).to.include('buyer');
    expect(purchases).to.deep.equal([]);
  });

  it('page through purchases without gaps or duplicates, with and without filters', async () => {
    const made: string[] = [];
    for (let n = 0; n < 3; n += 1) {
      made.push(await shop.buySuccessfully());
    }
    const day = new Intl.DateTimeFormat('en-CA', { timeZone: 'Asia/Jakarta' }).format(new Date());
    for (const filter of [
      '',
      '&account=buyer',
      '&account=buyer&status=SUCCESS',
      '&status=SUCCESS&product=S10',
      `&from=${day}&to=${day}`,
      `&account=buyer&from=${day}`,
    ]) {
      const ids: string[] = [];
      let after = '';
      do {
        const page = await ask('listPurchases', `/purchases?limit=2${filter}${after}`);
        expect(page.purchases.length).to.be.at.most(2);
        ids.push(...page.purchases.map((each: { id: string }) => each.id));
        after = page.next === null ? '' : `&after=${page.next}`;
      } while (after !== '');
      expect(new Set(ids).size, filter).to.equal(ids.length);
      expect(ids, filter).to.include.members(made);
      expect([...ids].sort().reverse(), filter).to.deep.equal(ids);
    }
    const { purchases } = await ask('listPurchases', '/purchases?seller=seller&status=SUCCESS');
    expect(purchases.every((each: { seller: string }) => each.seller === 'seller')).to.equal(true);
    const none = await ask('listPurchases', '/purchases?account=buyer2');
    expect(none).to.deep.equal({ purchases: [], next: null, looked_back_to: null });
    expect((await call('/purchases?account=nobody')).status).to.equal(404);
  });

  it('a rare filter reads a bounded number of rows and continues on the next page', async () => {
    const transactions = shop.stack.db.collection<{ _id: string }>('transactions');
    const [pattern] = await transactions.find().sort({ _id: -1 }).limit(1).toArray();
    const old = Array.from({ length: 1_500 }, (_, n) => ({
      ...pattern,
      _id: (Date.UTC(2026, 0, 1) + n).toString(16).padStart(12, '0').padEnd(32, '7'),
      refId: `old-${n}`,
      productCode: n === 0 ? 'RARE' : 'S10',
      createdAt: new Date(Date.UTC(2026, 0, 1) + n),
    }));
    await transactions.insertMany(old);
    try {
      const first = await ask('listPurchases', '/purchases?product=RARE');
      expect(first.purchases).to.deep.equal([]);
      expect(first.looked_back_to).to.match(/^2026-01-01/);
      const second = await ask('listPurchases', `/purchases?product=RARE&after=${first.next}`);
      expect(second.purchases.map((each: { ref_id: string }) => each.ref_id)).to.deep.equal(['old-0']);
      expect(second.next).to.equal(null);
    } finally {
      await transactions.deleteMany({ refId: /^old-/ });
    }
  });

  it('decide a purchase under review once, with ledger and audit entries', async () => {
    const [done, failed, asked] = await Promise.all([
      shop.buyUnderReview(),
      shop.buyUnderReview(),
      shop.buyUnderReview(),
    ]);
    const shown = await ask('getPurchase', `/purchases/${done}`);
    expect(shown.decisions).to.have.members(['success', 'failed', 'ask']);
    expect(shown.orders[0]).to.include({ status: 'UNKNOWN', sent_product: 'S10' });
    expect(shown.timeline.map((each: { what: string }) => each.what)).to.include.members([
      'state',
      'journal',
      'attempt',
    ]);
    const listed = await ask('listAttention', '/attention');
    const ages = listed.items.map((each: { since: string }) => each.since);
    expect(ages).to.deep.equal([...ages].sort());
    expect(listed.items.find((each: { id: string }) => each.id === failed)).to.include({ kind: 'review' });

    const wrong = await call(`/purchases/${failed}/decide`, { as: 'failed', serial_number: 'SN', reason });
    expect(wrong.status).to.equal(400);
    const decided = { as: 'success', serial_number: 'SN-4711', reason };
    expect(await ask('decidePurchase', `/purchases/${done}/decide`, decided)).to.deep.equal({
      id: done,
      status: 'SUCCESS',
    });
    expect(await shop.purchaseOf(done)).to.include({ status: 'SUCCESS', serialNumber: 'SN-4711' });
    const entry = await expectAudited(done, 'review.resolve');
    expect(entry['after']).to.deep.include({ as: 'success', serialNumber: 'SN-4711' });
    expect((await call(`/purchases/${done}/decide`, decided)).status, 'second decision').to.equal(409);

    expect(await ask('decidePurchase', `/purchases/${failed}/decide`, { as: 'failed', reason })).to.include({
      status: 'FAILED',
    });
    await expectAudited(failed, 'review.resolve');
    await ask('decidePurchase', `/purchases/${asked}/decide`, { as: 'ask', reason });
    await expectAudited(asked, 'review.resolve');
    const kinds = await shop.stack.db.collection('journals').distinct('kind', { subjectId: failed });
    expect(kinds).to.have.members(['purchase', 'refund']);
  });

  it('reverse a sale once and refund its buyer', async () => {
    const id = await shop.buySuccessfully();
    expect(await ask('reversePurchase', `/purchases/${id}/reverse`, { reason })).to.include({
      status: 'REFUNDED',
    });
    const kinds = await shop.stack.db.collection('journals').distinct('kind', { subjectId: id });
    expect(kinds).to.have.members(['purchase', 'success', 'reversal']);
    expect((await call(`/purchases/${id}/reverse`, { reason })).status).to.equal(409);
  });

  it('replay a delivery and show each attempt without secrets of its URL', async () => {
    const id = await shop.buySuccessfully();
    const deliveries = shop.stack.db.collection<{ _id: string; url: string }>('deliveries');
    const delivery = await eventually('the webhook is delivered', () =>
      deliveries.findOne({ orderKey: id, state: 'delivered' }),
    );
    await ask('replayDelivery', `/deliveries/${delivery._id}/replay`, { reason });
    await expectAudited(delivery._id, 'webhook.replay');
    await eventually('the second attempt', () => deliveries.findOne({ _id: delivery._id, attemptCount: 2 }));
    const url = `${delivery.url}/o'x?token=SECRET`;
    const echo = `There is no ${url}`;
    await deliveries.updateOne({ _id: delivery._id }, { $set: { url, 'attempts.0.answer': echo } });
    await shop.stack.db
      .collection<{ _id: string }>('transactions')
      .updateOne({ _id: id }, { $set: { message: echo } });
    const shown = await call(`/purchases/${id}`);
    expect(shown.text).to.include('?token=***').and.to.not.include('SECRET');
    const { deliveries: all } = await ask('getPurchase', `/purchases/${id}`);
    expect(all.find((each: { id: string }) => each.id === delivery._id).attempts).to.have.length(2);
  });

  it('close a case once', async () => {
    const id = await shop.addOpenCase('credit note 311');
    expect(await ask('resolveCase', `/cases/${id}/resolve`, { reason })).to.deep.equal({ id, changed: true });
    await expectAudited(id, 'case.resolve');
    expect(await ask('resolveCase', `/cases/${id}/resolve`, { reason })).to.include({ changed: false });
    const { items } = await ask('listAttention', '/attention');
    expect(items.map((each: { id: string }) => each.id)).to.not.include(id);
  });

  it('page through accounts and find them by prefix', async () => {
    const usernames: string[] = [];
    let after = '';
    do {
      const page = await ask('listAccounts', `/accounts?limit=2${after}`);
      usernames.push(...page.accounts.map((each: { username: string }) => each.username));
      after = page.next === null ? '' : `&after=${page.next}`;
    } while (after !== '');
    expect(usernames)
      .to.deep.equal([...usernames].sort())
      .and.to.include.members(['buyer', 'buyer2', 'seller']);
    const { accounts } = await ask('listAccounts', '/accounts?prefix=sell');
    expect(accounts.length).to.be.greaterThan(0);
    expect(accounts.every((each: { username: string }) => each.username.startsWith('sell'))).to.equal(true);
  });

  it('suspend and resume an account from the next call on', async () => {
    const id = await accountId('buyer2');
    const other = apiClient(shop.stack.baseUrl, shop.accounts['buyer2']?.api_key ?? '');
    expect(await ask('suspendAccount', '/accounts/buyer2/suspend', { reason })).to.deep.equal({
      changed: true,
    });
    expect((await other.post('/api/buyer/balance')).status).to.equal(403);
    await expectAudited(id, 'account.suspend');
    expect(await ask('resumeAccount', '/accounts/buyer2/resume', { reason })).to.deep.equal({
      changed: true,
    });
    expect((await other.post('/api/buyer/balance')).status).to.equal(200);
    await expectAudited(id, 'account.resume');
  });

  it('change limits and rules of an account, its allowlist and its links', async () => {
    const [id, buyer2] = [await accountId('seller'), await accountId('buyer2')];
    const settings = {
      commission_rate: 0.015,
      product_limit: 500,
      rate_limit: 120,
      rate_limit_max: 600,
      require_ack: true,
    };
    await ask('changeSettings', '/accounts/seller/settings', { ...settings, reason });
    const entry = await expectAudited(id, 'account.set');
    expect(entry['after']).to.include({ commissionRate: 0.015, productLimit: 500, requireAck: true });
    expect(await ask('getAccount', '/accounts/seller')).to.include(settings);
    expect(await ask('changeSettings', '/accounts/seller/settings', { ...settings, reason })).to.deep.equal({
      changed: false,
    });
    await ask('changeSettings', '/accounts/seller/settings', {
      commission_rate: null,
      rate_limit_max: null,
      reason,
    });
    expect(await ask('getAccount', '/accounts/seller')).to.include({
      commission_rate: null,
      product_limit: 500,
    });
    const ofSellers = await call('/accounts/buyer2/settings', { commission_rate: 0.5, reason });
    expect(ofSellers.status, 'setting of sellers only').to.equal(400);
    for (const wrong of [
      { commission_rate: 1.1 },
      { rate_limit: 0 },
      { rate_limit: null },
      { product_limit: 1.5 },
    ]) {
      const answer = await call('/accounts/seller/settings', { ...wrong, reason });
      expect(answer.status, JSON.stringify(wrong)).to.equal(400);
    }
    await shop.stack.db
      .collection('accounts')
      .updateOne({ username: 'buyer2' }, { $set: { ipWhitelist: ['192.0.2.1'] } });
    expect(await ask('clearAllowlist', '/accounts/buyer2/clear-allowlist', { reason })).to.deep.equal({
      changed: true,
    });
    expect((await ask('getAccount', '/accounts/buyer2')).ip_whitelist).to.deep.equal([]);
    await expectAudited(buyer2, 'config.update');
    await ask('revokeLinks', '/accounts/buyer2/revoke-links', { reason });
    await expectAudited(buyer2, 'account.revoke-links');
  });

  it('show a new key once and end the old one', async () => {
    const id = await accountId('buyer2');
    const old = apiClient(shop.stack.baseUrl, shop.accounts['buyer2']?.api_key ?? '');
    const { api_key: key } = await ask('newKey', '/accounts/buyer2/key', { overlap_minutes: 0, reason });
    const audited = await expectAudited(id, 'api-key.rotate');
    expect((await apiClient(shop.stack.baseUrl, key).post('/api/buyer/balance')).status).to.equal(200);
    expect((await old.post('/api/buyer/balance')).status).to.equal(401);
    const shown = await call('/accounts/buyer2');
    expect(shown.text + JSON.stringify(audited)).to.not.include(key);
    expect(shown.text).to.not.match(/whsec_|[bs]k_\w{8}/);
  });

  it('of two concurrent new keys one succeeds and the other is refused', async () => {
    const [one, other] = await Promise.all(
      [0, 0].map((overlap) => call('/accounts/seller3/key', { overlap_minutes: overlap, reason })),
    );
    const answers = [one, other].sort((a, b) => (a?.status ?? 0) - (b?.status ?? 0));
    expect(answers.map((each) => each?.status)).to.deep.equal([200, 409]);
    const { api_key: key } = JSON.parse(answers[0]?.text ?? '').data;
    expect((await apiClient(shop.stack.baseUrl, key).get('/api/seller/balance')).status).to.equal(200);
  });

  it('a form with too many fields is refused with 413 without a login', async () => {
    const stranger = consoleClient(shop.stack.baseUrl, '198.51.100.9');
    const answer = await stranger.send('POST', '/admin/login', 'a=1&'.repeat(25));
    expect(answer.status, answer.text).to.equal(413);
  });

  it('a statement adds up, and reading it is audited', async () => {
    const id = await accountId('buyer');
    const read = await ask('getStatement', '/accounts/buyer/statement');
    const sum = read.entries.reduce((all: number, { amount }: { amount: number }) => all + amount, 0);
    expect(read.left).to.equal(0);
    expect(Number(read.opening_balance) + Number(sum)).to.equal(read.closing_balance);
    expect(await caller.lastAudit(id)).to.include({
      action: 'statement.export',
      actor: `operator:${caller.username}`,
    });
  });

  it('keep the ledger consistent', async () => {
    await expectLedgerToBalance(shop.stack);
  });
});
