/** The pages for providers, checks, the ledger and the audit log in the console. */
import { expect } from 'chai';
import { Redis } from 'ioredis';
import { uniqueRef } from '../support/api-client.js';
import { eventually } from '../support/eventually.js';
import { callerAs, reason, type Caller } from './support/console-caller.js';
import { startOperatedStack, type OperatedStack } from './support/operated-stack.js';

describe('operation of the service in the console', function () {
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

  const accountId = async (username: string) =>
    String((await shop.stack.db.collection('accounts').findOne({ username }))?._id);

  /** Returns the username of the purchase's seller. */
  async function sellerOf(id: string): Promise<string> {
    const accounts = shop.stack.db.collection<{ _id: string; username: string }>('accounts');
    const sellerId = (await shop.purchaseOf(id))?.sellerId ?? '';
    return (await accounts.findOne({ _id: sellerId }))?.username ?? '';
  }

  it('shows providers from worker counts, and pauses, limits and tests a provider', async () => {
    const name = await sellerOf(await shop.buySuccessfully());
    const seller = await eventually("the workers' counts are stored", async () => {
      const { providers } = await ask('listProviders', '/providers');
      const found = providers.find((each: { seller: string }) => each.seller === name);
      return found?.day.sold > 0 && found;
    });
    expect(seller).to.include({ circuit: 'closed', paused: null, account_status: 'active' });
    expect(seller.day.orders).to.be.at.least(seller.day.sold);
    expect(seller.day.p95_ms).to.be.greaterThan(0);
    const id = await accountId(name);
    const obstacleNow = async () => {
      const { offers } = await ask('getRouting', '/routing?product=S10');
      const asked = offers.filter((each: { obstacle: string | null }) => each.obstacle === null);
      expect(asked[0]?.placed).to.equal('first');
      for (const [place, each] of offers.entries()) {
        const isDearer = place > 0 && each.price > offers[place - 1].price;
        expect(each.placed === null, 'no place for obstacles').to.equal(each.obstacle !== null);
        expect(each.placed === 'price', `${name}: ${each.placed}`).to.equal(
          each.obstacle === null && isDearer,
        );
      }
      return offers.find((each: { seller: string }) => each.seller === name)?.obstacle;
    };
    await ask('pauseProvider', `/providers/${name}/pause`, { reason });
    await expectAudited(id, 'provider.pause');
    expect(await obstacleNow()).to.equal('paused');
    expect((await call(`/providers/${name}/pause`, { reason })).status).to.equal(409);
    await ask('resumeProvider', `/providers/${name}/resume`, { reason });
    expect(await obstacleNow()).to.equal(null);
    await ask('limitProvider', `/providers/${name}/limits`, {
      reason,
      calls_per_second: 500,
      serial_placeholders: ['cek report'],
    });
    await expectAudited(id, 'provider.change');
    const tested = await ask('testProvider', `/providers/${name}/test`, { reason });
    await expectAudited(id, 'provider.float');
    const one = await ask('getProvider', `/providers/${name}`);
    expect(one).to.include({ float: tested.float }).and.to.have.property('limits');
    expect(one.limits.calls_per_second).to.equal(500);
    expect(one.serial_placeholders).to.deep.equal(['cek report']);
    expect(one.steps.reduce((sum: number, step: { sold: number }) => sum + step.sold, 0)).to.be.at.least(
      seller.day.sold,
    );
    await eventually("the circuit's change is stored", async () => {
      const { changes } = await ask('getProvider', `/providers/${name}?days=7`);
      return changes.some(({ because }: { because: string }) => because === 'operator');
    });
    expect((await ask('comparePrices', `/providers/${name}/prices`, {})).offers).to.be.greaterThan(0);
    expect((await call('/providers/buyer')).status).to.equal(404);
  });

  it("turns a provider's price list into products, as previewed, and undoes it", async () => {
    const name = 'seller3';
    const filter = { search: 'smartfren', margin_percent: 5, round_to: 50 };
    const path = `/providers/${name}/catalogue`;
    const offers = shop.stack.db.collection('offers');
    const sellerId = await accountId(name);
    await offers.deleteMany({ sellerId, productCode: /^SM/ });
    const mapped = [{ sku: 'SM5', code: 'SM5' }];
    const plan = await ask('previewCatalogue', `${path}/preview`, { ...filter, map: mapped });
    expect(plan.rows).to.equal(6);
    expect(
      plan.creates.map(({ code, price }: { code: string; price: number }) => [code, price]),
    ).to.deep.equal([['SM5', 5_450]]);
    expect(plan.skipped).to.deep.include({
      why: 'code-taken',
      count: 5,
      skus: ['SM10', 'SM20', 'SM25', 'SM50', 'SM100'],
    });
    const wanted = { ...filter, map: mapped, reason, fingerprint: plan.fingerprint };
    expect((await call(path, { ...wanted, margin_percent: 6 })).status, 'another margin').to.equal(409);
    const done = await ask('applyCatalogue', path, wanted);
    expect(done).to.include({ created: 1, changed: 0 });
    await expectAudited('SM5', 'offer.put');
    expect(await offers.findOne({ sellerId, productCode: 'SM5' })).to.include({ status: 'active' });
    await ask('undoPriceImport', `/price-imports/${done.id}/undo`, { reason });
    expect(await offers.findOne({ sellerId, productCode: 'SM5' })).to.include({ status: 'inactive' });
  });

  it("compares a provider's records with ours, fetched or from a file", async () => {
    const id = await shop.buySuccessfully();
    const name = await sellerOf(id);
    const order = await shop.stack.db.collection('attempts').findOne({ transactionId: id });
    const date = new Intl.DateTimeFormat('en-CA', { timeZone: 'Asia/Jakarta' }).format(new Date());
    const result = await ask('reconcileProvider', `/providers/${name}/reconcile`, { date });
    expect(result.matched).to.be.greaterThan(0);
    const at = new Date().toISOString();
    const csv = `ref_id,at,status,sn\n${String(order?._id)},${at},Sukses,another\nnot-ours-1,${at},Sukses,\n`;
    const { found, differences } = await ask('reconcileProvider', `/providers/${name}/reconcile`, {
      date,
      csv,
    });
    expect(found).to.equal(differences.length);
    expect(differences).to.deep.include({
      kind: 'only-provider',
      reference: 'not-ours-1',
      ours: null,
      theirs: 'success',
    });
    expect(
      differences.find((each: { reference: string }) => each.reference === String(order?._id))?.kind,
    ).to.equal('differs');
    const reconciliations = shop.stack.db.collection<{ _id: string }>('providerReconciliations');
    const sellerId = String((await shop.stack.db.collection('accounts').findOne({ username: name }))?._id);
    const accept = { date: '2026-01-31', reason };
    expect((await call(`/providers/${name}/accept`, accept)).status, 'no differences').to.equal(409);
    const difference = {
      _id: `${sellerId}:${accept.date}`,
      sellerId,
      date: accept.date,
      at: new Date(),
      ours: 3,
      theirs: 3,
      matched: 1,
      different: 2,
      accepted: null,
      examples: [],
    };
    await reconciliations.insertOne(difference);
    expect(await ask('acceptDifferences', `/providers/${name}/accept`, accept)).to.deep.equal({
      date: accept.date,
      different: 2,
    });
    await expectAudited(sellerId, 'provider.accept-differences');
    expect((await call(`/providers/${name}/accept`, accept)).status, 'second accept').to.equal(409);
    const wrong = await call(`/providers/${name}/reconcile`, {
      date,
      csv: 'ref_id,at,status\nx,never,Sukses\n',
    });
    expect(wrong.status, wrong.text).to.equal(400);
    expect(wrong.text).to.include('line 2');
  });

  it('shows doctor checks and active alarms, and retries a failed job', async () => {
    const { db } = shop.stack;
    const at = new Date();
    const id = await shop.addUnreadableJob();
    const refusal = 'it returned 404';
    const alarm = { _id: uniqueRef('alarm'), since: at, seenAt: null, told: true, claimedUntil: at, refusal };
    await db.collection<{ _id: string }>('alarms').insertOne(alarm);
    // Whether alarm messages are refused is shown only while a process sends alarms, so simulate
    // one.
    const { QUEUE_PREFIX: prefix = '', REDIS_URL: redisUrl = '' } = shop.stack.env;
    const redis = new Redis(redisUrl);
    await redis.zadd(`${prefix}:processes`, at.getTime(), 'planted:teller');
    await redis.set(`${prefix}:process-says:teller`, JSON.stringify({ tellsAlarms: true }), 'EX', 60);
    const found = await eventually('doctor has run', async () => {
      const answer = await ask('getSystem', '/system');
      return answer.checked && answer;
    });
    await redis.zrem(`${prefix}:processes`, 'planted:teller');
    await redis.quit();
    const check = (name: string) => found.checked.checks.find((each: { name: string }) => each.name === name);
    expect(check('queue fulfilment')).to.include({ status: 'ok', advice: null });
    expect(check('jobs that fail repeatedly')).to.include({ status: 'warn', detail: '1' });
    expect(found.alarms).to.deep.include({ id: alarm._id, since: at.toISOString(), is_told: true, refusal });
    expect(check('alarms')).to.include({ status: 'fail' });
    expect(found.failing_jobs[0]).to.include({ id, rounds: 6, reason: 'Error: made up' });
    const retry = () => ask('retryJobs', '/jobs/retry', { ids: [id], reason });
    expect(await retry()).to.deep.equal({ jobs: [{ id, refusal: null }] });
    await expectAudited('reports', 'job.retry');
    expect((await ask('getSystem', '/system')).failing_jobs).to.deep.equal([]);
    await eventually('doctor reports the repair', async () => {
      const { checked } = await ask('getSystem', '/system');
      return checked?.checks.some(
        ({ name, status }: { name: string; status: string }) =>
          name === 'jobs that fail repeatedly' && status === 'ok',
      );
    });
    expect(await retry()).to.deep.equal({ jobs: [{ id, refusal: 'gone' }] });
  });

  it('a requested ledger verification shows its result and the next time', async () => {
    await shop.buySuccessfully();
    const before = await ask('getLedger', '/ledger');
    await ask('verifyLedgerNow', '/ledger/verify', { reason });
    const day = new Intl.DateTimeFormat('en-CA', { timeZone: 'Asia/Jakarta' }).format(new Date());
    await expectAudited(day, 'ledger.verify');
    const after = await eventually('the result is stored', async () => {
      const found = await ask('getLedger', '/ledger');
      const at = found.verifications[0]?.at;
      return at !== undefined && at !== before.verifications[0]?.at && found.running === null && found;
    });
    expect(after.verifications[0]).to.include({ day, ok: true, failures: 0 });
    expect(Date.parse(after.next_verification_at)).to.be.greaterThan(Date.now());
  });

  it('pages the audit log without gaps, filters it and exports a safe CSV', async () => {
    const actor = `operator:${caller.username}-audited`;
    const at = (ms: number) => new Date(Date.UTC(2026, 0, 5, 3, 0, 0, ms));
    const entries = [1, 2, 2, 2, 3, 4].map((ms, n) => ({
      _id: `audited-${n}`,
      at: at(ms),
      actor,
      action: n === 5 ? 'account.set' : 'provider.pause',
      from: null,
      subject: { kind: 'provider', id: 'audited' },
      before: { paused: null },
      after: null,
      reason: n === 5 ? '=HYPERLINK("x")' : null,
    }));
    await shop.stack.db.collection<{ _id: string }>('audit').insertMany(entries);
    const newestFirst = ['audited-5', 'audited-4', 'audited-1', 'audited-2', 'audited-3', 'audited-0'];
    for (const filter of [
      `actor=${actor}`,
      'kind=provider&subject=audited',
      `actor=${actor}&kind=provider`,
    ]) {
      const ids: string[] = [];
      let place = '';
      do {
        const page = await ask('listAudit', `/audit?limit=3&${filter}${place}`);
        ids.push(...page.entries.map((each: { id: string }) => each.id));
        place = page.next === null ? '' : `&before=${page.next}`;
      } while (place !== '');
      expect(ids, filter).to.have.members(newestFirst);
      expect(ids, filter).to.have.length(newestFirst.length);
    }
    const { entries: set } = await ask('listAudit', `/audit?actor=${actor}&action=account.`);
    expect(set).to.have.length(1);
    expect(set[0]).to.include({ before: '{"paused":null}', after: null, subject: 'audited' });
    const none = await ask('listAudit', `/audit?actor=${actor}&from=2026-01-06`);
    expect(none.entries).to.deep.equal([]);
    const csv = await caller.client.get(`/admin/audit.csv?actor=${actor}`, { accept: '*/*' });
    expect(csv.headers['content-type']).to.match(/^text\/csv/);
    const lines = csv.text.trim().split('\r\n');
    expect(lines).to.have.length(1 + entries.length);
    expect(csv.text).to.include("'=HYPERLINK");
  });
});
