/** Operators' decisions about money, and the day's figures, compared with the ledger. */
import { expect } from 'chai';
import { getSampleId } from '../../src/samples/sample.model.js';
import { eventually } from '../support/eventually.js';
import { expectLedgerToBalance } from '../support/ledger.js';
import { callerAs, reason, type Caller } from './support/console-caller.js';
import { startOperatedStack, type OperatedStack, type StoredPurchase } from './support/operated-stack.js';

describe('money in the console', function () {
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

  it('deposits are listed, credited or rejected once, and found by filters', async () => {
    const [paid, unpaid] = [await shop.askForDeposit(123_000), await shop.askForDeposit(65_000)];
    const balance = async () => Number((await ask('getAccount', '/accounts/buyer')).balance);
    const { deposits: waiting } = await ask('listDeposits', '/deposits');
    expect(waiting.map((each: { id: string }) => each.id)).to.deep.equal([paid.id, unpaid.id]);
    expect(waiting[0]).to.include({
      account: 'buyer',
      amount: 123_000,
      status: 'pending',
      ref_id: paid.refId,
    });
    const before = await balance();
    const confirmed = { id: paid.id, status: 'completed' };
    expect(await ask('confirmDeposit', `/deposits/${paid.id}/confirm`, { reason })).to.deep.equal({
      ...confirmed,
      changed: true,
    });
    await expectAudited(paid.id, 'deposit.confirm');
    expect(await ask('confirmDeposit', `/deposits/${paid.id}/confirm`, { reason })).to.deep.equal({
      ...confirmed,
      changed: false,
    });
    expect(await balance()).to.equal(before + 123_000);
    expect((await call(`/deposits/${paid.id}/reject`, { reason })).status, 'credited').to.equal(409);
    expect(await ask('rejectDeposit', `/deposits/${unpaid.id}/reject`, { reason })).to.include({
      status: 'rejected',
    });
    await expectAudited(unpaid.id, 'deposit.reject');
    expect((await call(`/deposits/${unpaid.id}/confirm`, { reason })).status, 'rejected').to.equal(409);
    expect((await call('/deposits/nothing/confirm', { reason })).status).to.equal(404);
    expect(await balance()).to.equal(before + 123_000);
    expect((await ask('listDeposits', '/deposits')).deposits).to.deep.equal([]);
    for (const [filter, ids] of [
      ['status=rejected', [unpaid.id]],
      ['status=all&account=buyer', [unpaid.id, paid.id]],
      [`status=all&account=buyer&from=${today()}&to=${today()}`, [unpaid.id, paid.id]],
      [`status=completed&from=${today()}`, [paid.id]],
      ['status=all&to=2020-01-01', []],
    ] as const) {
      const found = await caller.idsOf('listDeposits', `/deposits?limit=1&${filter}`, 'deposits');
      expect(found.slice(0, ids.length), filter).to.deep.equal(ids);
    }
    expect((await call('/deposits?account=nobody')).status).to.equal(404);
  });

  it('settlements are listed, claimed by one operator, and paid once or refunded', async () => {
    const settlements = shop.stack.db.collection<{ _id: string; status: string }>('settlements');
    const statusOf = async (id: string) => (await settlements.findOne({ _id: id }))?.status;
    const paid = await shop.askForSettlement({ amount: 100_000, accountNumber: '1234567890' });
    // The list shows a state only after a majority of the replica set holds it.
    const listOpen = async () => (await ask('listSettlements', '/settlements')).settlements;
    await eventually(
      'the worker leaves it to operators',
      async () => (await listOpen())[0]?.status === 'processing',
    );
    const open = await listOpen();
    expect(open).to.have.length(1);
    expect(open[0]).to.include({
      id: paid,
      seller: 'seller',
      holder: 'PT Pulsa Jaya',
      account_number: '1234567890',
      amount: 100_000,
      net_amount: 97_500,
      status: 'processing',
      needs_approval: false,
      wallet_below_zero: false,
    });
    expect(open[0].steps).to.deep.equal(['claim', 'fail']);
    const to = `/settlements/${paid}`;
    expect(
      (await call(`${to}/complete`, { bank_reference: 'BCA 1', reason })).status,
      'complete without a claim',
    ).to.equal(409);
    await ask('claimSettlement', `${to}/claim`, { reason });
    await expectAudited(paid, 'settlement.claim');
    const { steps, claimed_by: claimedBy } = (await ask('listSettlements', '/settlements')).settlements[0];
    expect([steps, claimedBy]).to.deep.equal([['complete', 'fail'], `operator:${caller.username}`]);

    const other = await callerAs(shop, 'finance');
    const seen = await other.ask('listSettlements', '/settlements');
    expect(seen.settlements[0].steps).to.deep.equal(['take-over']);
    for (const verb of ['claim', 'complete', 'fail']) {
      const body = { reason, ...(verb === 'complete' && { bank_reference: 'BCA 1' }) };
      expect((await other.call(`${to}/${verb}`, body)).status, verb).to.equal(409);
    }
    expect((await other.call(`${to}/claim`, { reason, take_over: true })).status).to.equal(200);
    expect((await call(`${to}/complete`, { bank_reference: 'BCA 1', reason })).status, 'taken over').to.equal(
      409,
    );
    for (const bank_reference of [undefined, '', '  ', 'x'.repeat(101)]) {
      expect((await other.call(`${to}/complete`, { bank_reference, reason })).status).to.equal(400);
    }
    const complete = (bank_reference: string) => other.call(`${to}/complete`, { bank_reference, reason });
    expect((await complete(' BCA 4711 ')).status).to.equal(200);
    expect((await complete('BCA 4711')).status, 'repeated complete').to.equal(200);
    expect((await other.lastAudit(paid))?.['after']).to.deep.equal({
      status: 'completed',
      bankReference: 'BCA 4711',
    });
    expect((await complete('BCA 9')).status, 'another reference').to.equal(409);
    expect((await other.lastAudit(paid))?.['after']).to.deep.equal({ refused: 'BCA 9' });
    const ofSeller = await ask('listSettlements', '/settlements?status=completed&account=seller');
    expect(ofSeller.settlements[0]).to.include({ id: paid, bank_reference: 'BCA 4711' });
    expect(await statusOf(paid)).to.equal('completed');
    const kinds = await shop.stack.db.collection('journals').distinct('kind', { subjectId: paid });
    expect(kinds).to.have.members(['settlement-request', 'settlement-completed']);

    const refused = await shop.askForSettlement({ amount: 60_000, accountNumber: '999888777' });
    const before = await ask('getAccount', '/accounts/seller');
    const [shown] = (await ask('listSettlements', '/settlements?status=pending')).settlements;
    expect(shown).to.deep.include({ id: refused, needs_approval: true, steps: ['approve', 'fail'] });
    expect(shown.review_reason).to.equal('new-bank-account');
    await ask('approveSettlement', `/settlements/${refused}/approve`, { reason });
    await expectAudited(refused, 'settlement.approve');
    const twice = await call(`/settlements/${refused}/approve`, { reason });
    expect([twice.status, twice.text], 'refusal with the state and without a command').to.satisfy(
      ([status, text]: [number, string]) =>
        status === 409 && text.includes('does not wait for approval') && !text.includes('topup '),
    );
    await eventually('the payout is processing', async () => (await statusOf(refused)) === 'processing');
    await ask('failSettlement', `/settlements/${refused}/fail`, { reason });
    await expectAudited(refused, 'settlement.failed');
    const after = await ask('getAccount', '/accounts/seller');
    expect(after.balance).to.equal(Number(before.balance) + 60_000);
    expect(after.held).to.equal(Number(before.held) - 60_000);
    for (const [filter, ids] of [
      ['status=open', []],
      ['status=completed', [paid]],
      ['status=all', [refused, paid]],
      ['status=all&account=seller', [refused, paid]],
      [`status=failed&account=seller&from=${today()}&to=${today()}`, [refused]],
    ] as const) {
      const found = await caller.idsOf('listSettlements', `/settlements?limit=1&${filter}`, 'settlements');
      expect(found, filter).to.deep.equal(ids);
    }
  });

  const today = () => new Intl.DateTimeFormat('en-CA', { timeZone: 'Asia/Jakarta' }).format(new Date());
  it('the figures of today match the purchases and the ledger to the rupiah', async () => {
    const [taken] = [await shop.buySuccessfully(), await shop.buySuccessfully(), await shop.buyUnderReview()];
    const gone = await shop.buyUnderReview();
    await ask('reversePurchase', `/purchases/${taken}/reverse`, { reason });
    await ask('decidePurchase', `/purchases/${gone}/decide`, { as: 'failed', reason });
    await steerFulfilment('pause');
    const waits = await shop.buyer.post('/v1/transactions', {
      product_code: 'S10',
      destination: '081299991230',
      ref_id: 'nobody-asked',
    });
    expect((await shop.purchaseOf(waits.body.data.id))?.sellerId, JSON.stringify(waits.body)).to.equal(null);
    const { purchases, lines } = await eventually('no purchase changes', async () => {
      const one = await everyPurchaseOfToday();
      const shown = await ask('getToday', '/today');
      const other = await everyPurchaseOfToday();
      const isQuiet = JSON.stringify(one) === JSON.stringify(other);
      return isQuiet && shown.today.purchases === one.purchases.length ? one : null;
    });
    const with_ = (...statuses: string[]) => purchases.filter(({ status }) => statuses.includes(status));
    const sum = (rows: { price: number }[]) => rows.reduce((all, { price }) => all + price, 0);
    const [success, refunded, failed] = [with_('SUCCESS'), with_('REFUNDED'), with_('FAILED')];
    const open = with_('PENDING', 'PROCESSING');
    expect([success.length, refunded.length, failed.length, open.length].every((each) => each > 0)).to.equal(
      true,
    );
    const shown = await eventually('the cached answer expires', async () => {
      const answer = await ask('getToday', '/today');
      return answer.today.open === open.length ? answer : null;
    });
    const moved = (account: string, kinds: string[]) =>
      lines
        .filter((line) => line.account === account && kinds.includes(line.kind))
        .reduce((all, { amount }) => all + amount, 0);
    expect((await shop.purchaseOf(waits.body.data.id))?.sellerId, 'seller before the routing').to.equal(null);
    expect(shown.is_whole).to.equal(true);
    expect(shown.today).to.deep.equal({
      purchases: purchases.length,
      success: success.length,
      failed: failed.length,
      refunded: refunded.length,
      open: open.length,
      success_rate: success.length / (success.length + failed.length + refunded.length),
      sales: sum(success),
      commission: moved('platform:revenue', ['success', 'reversal']),
    });
    // Sales are the amount that moved from suspense to sellers and revenue, less reversals.
    expect(shown.today.sales).to.equal(-moved('platform:suspense', ['success']) - sum(refunded));
    expect(shown.today.commission).to.be.greaterThan(0);
    // `closed` is yesterday's figure, which the last test covers.
    const { closed: _before, ...suspense } = shown.suspense;
    expect(suspense).to.deep.equal({
      amount: moved('platform:suspense', ['purchase', 'success', 'refund', 'reversal']),
      purchases: open.length,
      is_cut: false,
    });
    const inHours = (name: string) =>
      shown.hours.reduce((all: number, each: Record<string, number>) => all + (each[name] ?? 0), 0);
    expect(['success', 'failed', 'refunded', 'open'].map(inHours)).to.deep.equal(
      [success, failed, refunded, open].map(({ length }) => length),
    );
    expect(shown.hours).to.have.length(24);
    expect(shown.days).to.have.length(30);
    expect(shown.days.at(-1)).to.include({ day: shown.day, sales: sum(success), success: success.length });
    const ofSellers = shown.providers.map(({ purchases: all }: { purchases: number }) => all);
    expect(ofSellers.reduce((all: number, each: number) => all + each, 0)).to.equal(
      purchases.filter(({ sellerId }) => sellerId !== null).length,
    );
    // Latency counts neither the reversal, whose purchase was already final, nor the purchase
    // `gone`, which an operator decided.
    const ended = success.length + failed.length + refunded.length - 1;
    const { latency } = await eventually('the figures have all ended purchases', async () => {
      const seen = await ask('getToday', '/today');
      return seen.latency.ended === ended && seen;
    });
    expect(latency.p95_s).to.be.at.least(latency.median_s);
    await steerFulfilment('resume');
    await eventually(
      'the purchase is sold',
      async () => (await shop.purchaseOf(waits.body.data.id))?.status === 'SUCCESS',
      30_000,
    );
  });

  /**
   * Pauses or resumes the common fulfilment queue and the queue of each provider. No provider
   * receives orders while they are paused.
   */
  async function steerFulfilment(verb: 'pause' | 'resume') {
    const { text } = await caller.client.get('/admin/queues/api/queues', { accept: 'application/json' });
    const { queues } = JSON.parse(text) as { queues: { name: string }[] };
    const names = queues.map(({ name }) => name).filter((name) => name.startsWith('fulfilment'));
    expect(names.length).to.be.greaterThan(1);
    for (const name of names) {
      const path = `/admin/queues/api/queues/${name}/${verb}`;
      const answer = await caller.client.send('PUT', path, undefined, caller.withToken());
      expect(answer.status, answer.text).to.equal(200);
    }
  }
  async function everyPurchaseOfToday() {
    const day = (at: Date) => new Intl.DateTimeFormat('en-CA', { timeZone: 'Asia/Jakarta' }).format(at);
    const all = await shop.stack.db
      .collection<StoredPurchase>('transactions')
      .find()
      .sort({ _id: 1 })
      .toArray();
    const purchases = all.filter(({ createdAt }) => day(createdAt) === day(new Date()));
    const ids = purchases.map(({ _id }) => _id);
    const journals = await shop.stack.db
      .collection('journals')
      .find({ subjectId: { $in: ids } })
      .sort({ _id: 1 })
      .toArray();
    const lines = journals.flatMap((journal) =>
      (journal['lines'] as { account: string; amount: number }[]).map((line) => ({
        ...line,
        kind: String(journal['kind']),
      })),
    );
    return { purchases, lines };
  }

  it('keeps the ledger consistent', async () => {
    await expectLedgerToBalance(shop.stack);
  });

  // Run after the other tests, because this test fabricates a closed day.
  it("shows the previous day's latency, the last closed suspense and 30 days", async () => {
    const hourOf = (backMs: number) => getSampleId('purchases', Date.now() - backMs);
    const took = (slots: Record<string, Record<string, number>>) => ({ from: new Date(), slots });
    await shop.stack.db.collection<{ _id: string }>('samples').insertMany([
      { _id: hourOf(30 * 3_600_000), ...took({ 2: { to7000: 3 }, 11: { to7000: 1, longer: 1 } }) },
      { _id: hourOf(60 * 3_600_000), ...took({ 2: { to50: 9 } }) },
    ]);
    const closes = shop.stack.db.collection<{ _id: string }>('dayCloses');
    const close = { state: 'closed', content: { totals: { 'platform:suspense': 70_000 } } };
    await closes.insertOne({ _id: '2999-01-31', ...close });
    const shown = await eventually('the cached answer expires', async () => {
      const answer = await ask('getToday', '/today');
      return answer.suspense.closed?.day === '2999-01-31' && answer;
    });
    expect(shown.suspense.closed.amount).to.equal(70_000);
    expect(shown.latency.before).to.deep.equal({ ended: 5, median_s: 6.25, p95_s: 86_400 });
    expect(shown.days).to.have.length(30);
    const { day, ...figures } = shown.days.at(-1);
    expect(day).to.match(/^\d{4}-\d\d-\d\d$/);
    expect(figures).to.deep.equal(shown.today);
    expect(figures.success).to.be.greaterThan(0);
  });
});
