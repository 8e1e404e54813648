import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AuditEntry } from '../../src/audit/audit.model.js';
import type { ApiClient } from '../support/api-client.js';
import { eventually } from '../support/eventually.js';
import { runToEnd } from '../support/run-to-end.js';
import { startStack, type Stack } from '../support/stack.js';
import { topup as runTopup } from '../support/topup.js';
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

describe('operator actions on providers', function () {
  this.timeout(90_000);
  let stack: Stack;
  let buyer: ApiClient;
  let otherBuyer: ApiClient;
  let seller: TestSeller;
  let code: string;

  before(async () => {
    stack = await startStack({
      workers: ['fulfilment', 'follow-up', 'sellers', 'webhooks'],
      env: { UNKNOWN_REVIEW_AFTER: '2000' },
    });
    const accounts = await stack.seed();
    seller = await pointSeller(stack, 'seller', {
      kind: 'simulator',
      baseUrl: null,
      username: 'operated',
      secret: stack.simulator.secret,
    });
    code = await addProduct(stack, [{ sellerId: seller.id, price: 10_000 }]);
    buyer = await newBuyer(stack, accounts['buyer']?.api_key ?? '');
    otherBuyer = await newBuyer(stack, accounts['buyer2']?.api_key ?? '');
  });
  after(() => stack.stop());

  async function topup(...args: string[]) {
    const { code, stdout, stderr } = await runTopup([...args, '--json'], stack.env);
    if (code !== 0) {
      throw new Error(`topup ${args.join(' ')} ended with ${code ?? 'a signal'}:\n${stdout}${stderr}`);
    }
    return JSON.parse(stdout);
  }

  /** Makes a purchase that is still pending at its provider when the review starts. */
  async function createReview(client = buyer): Promise<string> {
    await stack.simulator.control({ pending_ms: 600_000 });
    const id = await purchase(client, code, '081234561233');
    await eventually('the review is open', async () => (await transactionOf(stack, id))?.reviewSince, 30_000);
    return id;
  }

  /** Returns the balance of every wallet except that of one account. */
  async function getOtherWallets(accountId: string | undefined): Promise<[string, number][]> {
    return Object.entries((await ledgerOf(stack)).wallets).filter(([id]) => id !== accountId);
  }

  async function lastAudit(id: string): Promise<AuditEntry | null> {
    return stack.db.collection<AuditEntry>('audit').findOne({ 'subject.id': id }, { sort: { at: -1 } });
  }

  it('an order without a timely response goes to review, with no refund or check', async () => {
    const id = await createReview();
    expect(await transactionOf(stack, id)).to.include({ status: 'PROCESSING', nextActionAt: null });
    const listed = await topup('review', 'list');
    expect(listed.map((each: { transaction_id: string }) => each.transaction_id)).to.include(id);
    const [attempt] = await attemptsOf(stack, id);
    const other = await stack.db.collection<{ _id: string }>('accounts').findOne({ username: 'buyer2' });
    const before = await getOtherWallets(other?._id);
    // Wait until an order of another buyer is checked at least one interval later. Until then this
    // order must not be checked, and no money may move.
    const intervalLaterMs = (attempt?.lastCheckAt?.getTime() ?? 0) + 5_000;
    for (let askedMs = 0; askedMs < intervalLaterMs;) {
      const [asked] = await attemptsOf(stack, await createReview(otherBuyer));
      askedMs = asked?.lastCheckAt?.getTime() ?? 0;
    }
    expect((await attemptsOf(stack, id))[0]?.checks).to.equal(attempt?.checks);
    expect(await getOtherWallets(other?._id)).to.deep.equal(before);
  });

  it('a review resolved as success is sold once, with serial number and audit entry', async () => {
    const id = await createReview();
    const args = ['review', 'resolve', id, '--as', 'success', '--sn', 'SN-1', '--reason', 'in their record'];
    expect(await topup(...args)).to.deep.equal({ transaction_id: id, status: 'SUCCESS' });
    expect(await transactionOf(stack, id)).to.include({
      status: 'SUCCESS',
      serialNumber: 'SN-1',
      reviewSince: null,
    });
    expect(await lastAudit(id)).to.deep.include({ action: 'review.resolve', reason: 'in their record' });
    const again = await topup(...args).catch((error: unknown) => String(error));
    expect(again).to.contain('is not under review');
    expect(
      await stack.db.collection('cases').countDocuments({ transactionId: id, resolvedAt: null }),
    ).to.equal(0);
  });

  it('a review resolved as failed is refunded; "ask" lets the provider decide', async () => {
    const id = await createReview();
    await topup('review', 'resolve', id, '--as', 'failed', '--reason', 'not executed');
    expect(await transactionOf(stack, id)).to.include({ status: 'FAILED' });
    const second = await createReview();
    await topup('review', 'resolve', second, '--as', 'ask', '--reason', 'their system is back');
    // Status checks continue for the normal review delay. Then a second review opens.
    await eventually('a second review', async () => (await transactionOf(stack, second))?.reviewSince);
  });

  it('a sale reversed by the operator is refunded once, and needs a reason', async () => {
    const id = await purchase(buyer, code, '081234561230');
    await waitUntilFinal(stack, id);
    const without = await runToEnd('scripts/topup.js', ['review', 'reverse', id], stack.env).catch(String);
    expect(without).to.contain('--reason');
    expect(await topup('review', 'reverse', id, '--reason', 'credit note')).to.include({
      status: 'REFUNDED',
    });
    expect(await lastAudit(id)).to.deep.include({ action: 'transaction.reverse', reason: 'credit note' });
    const again = await topup('review', 'reverse', id, '--reason', 'again').catch((error: unknown) =>
      String(error),
    );
    expect(again).to.contain('REFUNDED');
    const { sums } = await ledgerOf(stack);
    expect(Object.values(sums).reduce((total, sum) => total + sum, 0)).to.equal(0);
  });

  it('pausing a provider is audited and shows maintenance until it is resumed', async () => {
    await topup('provider', 'pause', 'seller', '--reason', 'told by mail');
    expect(await lastAudit(seller.id)).to.deep.include({ action: 'provider.pause', reason: 'told by mail' });
    const { body } = await buyer.post('/api/buyer/price-list', {});
    expect(body.status, JSON.stringify(body)).to.equal('success');
    const shown = body.data.find((each: { code: string }) => each.code === code);
    expect(shown).to.include({ status: 'maintenance' });
    await topup('provider', 'resume', 'seller', '--reason', 'done');
    expect(await topup('provider', 'float', 'seller')).to.deep.equal({
      seller: 'seller',
      float: 1_000_000_000,
    });
    const listed = await topup('provider', 'list');
    expect(listed.find((each: { seller: string }) => each.seller === 'seller')).to.include({
      circuit: 'closed',
      paused: null,
    });
  });

  it("changes a provider's settings and audits them without secrets", async () => {
    await topup(
      'provider',
      'set',
      'seller',
      '--concurrency',
      '7',
      '--calls-per-second',
      '50',
      '--reason',
      'their limit',
    );
    const account = await stack.db
      .collection<{ _id: string; provider: unknown }>('accounts')
      .findOne({ _id: seller.id });
    expect(account?.provider).to.include({ concurrency: 7, callsPerSecond: 50, username: 'operated' });
    expect(await lastAudit(seller.id)).to.deep.include({
      action: 'provider.change',
      before: { callsPerSecond: null, concurrency: null },
      after: { callsPerSecond: 50, concurrency: 7 },
    });
    const id = await purchase(buyer, code, '081234561230');
    expect(await waitUntilFinal(stack, id)).to.include({ status: 'SUCCESS' });
  });

  it('reconciliation reports one-sided orders in a table and as CSV', async () => {
    const sold = await purchase(buyer, code, '081234561230');
    await waitUntilFinal(stack, sold);
    const date = new Intl.DateTimeFormat('en-CA', { timeZone: 'Asia/Jakarta' }).format(new Date());
    const fromLog = JSON.parse(
      await runToEnd(
        'scripts/topup.js',
        ['reconcile', '--provider', 'seller', '--date', date, '--json'],
        stack.env,
      ).catch((error: unknown) => /\{[\s\S]*\}/.exec(String(error))?.[0] ?? ''),
    );
    // The provider reports the orders under review as executed, but they are not final in our
    // database.
    expect(fromLog.matched).to.be.at.least(1);
    expect(fromLog.differences.map((each: { kind: string }) => each.kind)).to.not.include('only-ours');
    const path = join(tmpdir(), `record-${randomUUID()}.csv`);
    const csv = `${path}.differences.csv`;
    const at = new Date().toISOString();
    writeFileSync(path, `ref_id,at,status,sn\r\n"${sold}-1",${at},Sukses,OTHER\r\n=cmd|1,${at},Sukses,\r\n`);
    const printed = await runToEnd(
      'scripts/topup.js',
      ['reconcile', '--provider', 'seller', '--date', date, '--file', path, '--csv', csv],
      stack.env,
    ).catch((error: unknown) => String(error));
    expect(printed).to.match(new RegExp(`differs +${sold}-1`));
    expect(printed).to.match(/only-provider +=cmd\|1/);
    expect(printed).to.contain('only-ours');
    expect(readFileSync(csv, 'utf8'))
      .to.match(/^what,reference,ours,theirs\n/)
      .and.to.contain(`'=cmd|1`);
    rmSync(path);
    rmSync(csv);
  });
});
