/** Wallet adjustments in the console, compared with the ledger. */
import { expect } from 'chai';
import type { Adjustment } from '../../src/adjustments/adjustment.model.js';
import { expectLedgerToBalance } from '../support/ledger.js';
import { callerAs, reason, type Caller } from './support/console-caller.js';
import { startOperatedStack, type OperatedStack } from './support/operated-stack.js';

const large = 1_000_000;

describe('adjustments in the console', function () {
  this.timeout(90_000);
  let shop: OperatedStack;
  let budi: Caller;
  let dewi: Caller;

  before(async () => {
    shop = await startOperatedStack({ ADJUSTMENT_APPROVAL_FROM: String(large) });
    [budi, dewi] = await Promise.all([callerAs(shop, 'finance'), callerAs(shop, 'finance')]);
  });
  after(() => shop.stack.stop());

  const balance = async (account = 'buyer') =>
    Number((await budi.ask('getAccount', `/accounts/${account}`)).balance);
  const idOf = async (username: string) =>
    (await shop.stack.db.collection<{ _id: string }>('accounts').findOne({ username }))?._id ?? '';
  const request = (amount: number, account = 'buyer', by = budi) =>
    by.ask('requestAdjustment', '/adjustments', { account, amount, reason });

  it('at or above the limit, another operator must approve, never the same one', async () => {
    const before = await balance();
    const made = await request(70_000);
    expect(made).to.include({ status: 'completed', balance_after: before + 70_000 });
    await budi.expectAudited(made.id, 'adjustment.post');
    expect(await request(-20_000)).to.include({ balance_after: before + 50_000 });
    const waiting = await request(large);
    expect(waiting).to.include({ status: 'pending', balance_after: null });
    await budi.expectAudited(waiting.id, 'adjustment.request');
    const path = `/adjustments/${waiting.id}`;
    const own = await budi.call(`${path}/approve`, { reason });
    expect([own.status, own.text]).to.satisfy(([status, text]: [number, string]) => {
      return status === 409 && text.includes('another operator must approve');
    });
    expect(await balance()).to.equal(before + 50_000);
    expect(await dewi.ask('approveAdjustment', `${path}/approve`, { reason })).to.deep.equal({
      id: waiting.id,
      status: 'completed',
      changed: true,
      balance_after: before + 50_000 + large,
    });
    await dewi.expectAudited(waiting.id, 'adjustment.approve');
    expect(await dewi.ask('approveAdjustment', `${path}/approve`, { reason })).to.include({ changed: false });
    expect((await dewi.call(`${path}/reject`, { reason })).status, 'reject after the approval').to.equal(409);
    expect(await balance()).to.equal(before + 50_000 + large);
  });

  it('split amounts need approval like their sum; a rejected adjustment never posts', async () => {
    const before = await balance('seller');
    expect((await request(large / 2, 'seller', dewi)).status).to.equal('completed');
    const rest = await request(large / 2, 'seller', dewi);
    expect(rest.status).to.equal('pending');
    expect(await budi.ask('rejectAdjustment', `/adjustments/${rest.id}/reject`, { reason })).to.include({
      status: 'rejected',
      balance_after: null,
      changed: true,
    });
    await budi.expectAudited(rest.id, 'adjustment.reject');
    expect((await budi.call(`/adjustments/${rest.id}/approve`, { reason })).status).to.equal(409);
    expect(await balance('seller')).to.equal(before + large / 2);
  });

  it('lists pending adjustments oldest first; filters by account, state and day', async () => {
    const waiting = [(await request(large, 'buyer')).id, (await request(large + 1, 'seller')).id];
    const shown = await dewi.ask('listAdjustments', '/adjustments');
    expect(shown.adjustments.map((each: { id: string }) => each.id)).to.deep.equal(waiting);
    expect(shown.approval_from).to.equal(large);
    expect(shown.adjustments[0]).to.include({
      account: 'buyer',
      amount: large,
      status: 'pending',
      reason,
      decided_by: null,
      is_own: false,
      requested_by: `operator:${budi.username}`,
    });
    const [own] = (await budi.ask('listAdjustments', '/adjustments')).adjustments;
    expect(own.is_own).to.equal(true);
    const collection = shop.stack.db.collection<Adjustment>('adjustments');
    for (const [filter, wanted] of [
      ['status=all', {}],
      ['status=all&account=buyer', { accountId: await idOf('buyer') }],
      ['status=rejected', { status: 'rejected' as const }],
      ['account=seller', { accountId: await idOf('seller'), status: 'pending' as const }],
    ] as const) {
      const found = await dewi.idsOf('listAdjustments', `/adjustments?limit=1&${filter}`, 'adjustments');
      const all = await collection.find(wanted).sort({ _id: -1 }).toArray();
      expect(found, filter).to.deep.equal(all.map(({ _id }) => _id));
      expect(found, filter).to.not.have.length(0);
    }
    expect(
      (await dewi.ask('listAdjustments', '/adjustments?status=all&to=2020-01-01')).adjustments,
    ).to.deep.equal([]);
    for (const id of waiting) {
      await dewi.ask('rejectAdjustment', `/adjustments/${id}/reject`, { reason });
    }
  });

  it('refuses invalid input and a debit below zero', async () => {
    for (const body of [
      ...[0, 1.5, 1e13, -1e13, 'much', null].map((amount) => ({ account: 'buyer', amount, reason })),
      { account: 'buyer', amount: 1 },
      { account: 'buyer', amount: 1, reason: ' ' },
      { amount: 1, reason },
    ]) {
      expect((await budi.call('/adjustments', body)).status, JSON.stringify(body)).to.equal(400);
    }
    expect((await budi.call('/adjustments', { account: 'nobody', amount: 1, reason })).status).to.equal(404);
    expect((await budi.call('/adjustments/nothing/approve', { reason })).status).to.equal(404);
    const sellerBalance = await balance('seller2');
    const debit = { account: 'seller2', amount: -sellerBalance - 1, reason };
    expect((await budi.call('/adjustments', debit)).text).to.include('below zero');
  });

  it('the ledger is consistent after all of these tests', () => expectLedgerToBalance(shop.stack));
});
