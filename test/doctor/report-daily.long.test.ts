/** The sums of `topup report daily` equal those of the ledger. */
import { expect } from 'chai';
import type { DayReport } from '../../src/doctor/build-day-report.js';
import { formatBusinessDay } from '../../src/shared/business-time.js';
import { apiClient, uniqueRef } from '../support/api-client.js';
import { deposit } from '../support/deposit.js';
import { waitUntilAllFinal } from '../support/purchases.js';
import { startStack, type SeededAccount, type Stack } from '../support/stack.js';
import { topup } from '../support/topup.js';

interface Journal {
  kind: string;
  lines: { account: string; amount: number }[];
}

describe('topup report daily', function () {
  this.timeout(120_000);
  let stack: Stack;
  let accounts: Record<string, SeededAccount>;
  let day: string;
  let report: DayReport;

  before(async () => {
    stack = await startStack({ workers: ['all'], env: { DEPOSIT_MODE: 'instant' } });
    accounts = await stack.seed();
    day = formatBusinessDay(new Date());
    const buyers = ['buyer', 'buyer2'].map((name) => apiClient(stack.baseUrl, accounts[name]?.api_key ?? ''));
    for (const [at, buyer] of buyers.entries()) {
      await deposit(buyer, 150_000 + at);
      for (const [code, number] of [
        ['S10', '081234561230'],
        ['S10', '081234571230'],
        ['S20', '081234561230'],
        ['S10', '081234561232'],
      ]) {
        const asked = { code, customer_number: number, ref_id: uniqueRef() };
        const { status, body } = await buyer.post('/api/buyer/transaction', asked);
        expect(status, JSON.stringify(body)).to.equal(200);
      }
    }
    await waitUntilAllFinal(stack, 60_000);
    // Create a deposit on another day, which must not be counted.
    const _id = `${Date.parse('2024-05-01T05:00:00Z').toString(16).padStart(12, '0')}${'0'.repeat(20)}`;
    const other = { _id, accountId: 'x', refId: uniqueRef() };
    await stack.db.collection<{ _id: string; [field: string]: unknown }>('deposits').insertOne({
      ...other,
      amount: 777,
      status: 'completed',
      balanceBefore: 0,
      balanceAfter: 777,
      createdAt: new Date('2024-05-01'),
      completedAt: new Date('2024-05-01'),
    });
    const { code, stdout, stderr } = await topup(['report', 'daily', '--date', day, '--json'], stack.env);
    expect(code, stdout + stderr).to.equal(0);
    report = JSON.parse(stdout) as DayReport;
  });
  after(() => stack.stop());

  /** Returns the sum of all journal lines of this kind on accounts with this prefix, in rupiah. */
  const booked = async (kind: string, account: string): Promise<number> => {
    const journals = await stack.db.collection<Journal>('journals').find({ kind }).toArray();
    return journals
      .flatMap(({ lines }) => lines)
      .filter((line) => line.account.startsWith(account))
      .reduce((sum, { amount }) => sum + amount, 0);
  };

  it('has sales, commission and deposits as booked in the ledger', async () => {
    expect(report.day).to.equal(day);
    expect(report.purchases['SUCCESS']).to.deep.equal({
      count: 6,
      amount: -(await booked('success', 'platform:suspense')),
    });
    expect(report.purchases['FAILED']).to.deep.equal({
      count: 2,
      amount: await booked('refund', 'wallet:'),
    });
    expect(report.successRatio).to.equal(0.75);
    expect(report.commission).to.equal(await booked('success', 'platform:revenue'));
    expect(report.deposits).to.deep.equal({
      completed: { count: 2, amount: await booked('deposit', 'wallet:') },
    });
    expect(report.commission, 'commission').to.be.greaterThan(0);
  });

  it('splits the sales by seller, provider, category and product, with equal sums', () => {
    const { SUCCESS: sold } = report.purchases;
    for (const list of ['sellers', 'providers', 'categories', 'products'] as const) {
      const sum = report[list].reduce(
        (all, { count, amount }) => ({ count: all.count + count, amount: all.amount + amount }),
        { count: 0, amount: 0 },
      );
      expect(sum, list).to.deep.equal(sold);
    }
    expect(report.products.map(({ name, count }) => [name, count])).to.deep.equal(
      [
        ['S10', 4],
        ['S20', 2],
      ].sort((a, b) => amountOf(b[0]) - amountOf(a[0])),
    );
    expect(report.providers.map(({ name }) => name)).to.deep.equal(['simulator']);
  });

  const amountOf = (name: unknown) => report.products.find((each) => each.name === name)?.amount ?? 0;

  it('prints the same as text, limits each list and handles a day without sales', async () => {
    const { stdout } = await topup(['report', 'daily', '--top', '1'], stack.env);
    expect(stdout).to.include(`Rp ${(report.purchases['SUCCESS']?.amount ?? 0).toLocaleString('id-ID')}`);
    expect(['S10', 'S20'].filter((code) => stdout.includes(`\n${code}`))).to.have.length(1);
    const quiet = await topup(['report', 'daily', '--date', '2024-05-01', '--json'], stack.env);
    expect(quiet.json<DayReport>()).to.deep.include({
      purchases: {},
      successRatio: null,
      deposits: { completed: { count: 1, amount: 777 } },
    });
    const early = await topup(['report', 'daily', '--date', '2024-05-01'], stack.env);
    expect(early.stdout).to.include(`The first account here is of ${formatBusinessDay(new Date())}.`);
    expect(stdout).to.not.include('The first account');
    expect((await topup(['report', 'daily', '--date', '2024-02-30'], stack.env)).code).to.equal(2);
  });

  it('refuses a day that has not begun and names today', async () => {
    const { code, stderr } = await topup(['report', 'daily', '--date', '2199-01-01'], stack.env);
    expect(code).to.not.equal(0);
    expect(stderr).to.include(`--date 2199-01-01 has not begun: today is ${formatBusinessDay(new Date())}`);
  });
});
