import { expect } from 'chai';
import { PurchaseModel, type Purchase } from '../../../src/purchases/purchase.model.js';
import { generateReport } from '../../../src/reports/generate-report.js';
import type { Role } from '../../../src/accounts/account.model.js';
import { useSettings } from '../../support/use-settings.js';
import { someTransaction } from '../../webhooks/support/accounts.js';
import { useApi } from '../support/api.js';

const at = new Date('2026-11-05T03:00:00.000Z');
const day = '2026-11-05';

describe('items and figures of a report', () => {
  const api = useApi();
  // No worker runs here: the tests generate the reports.
  useSettings({ REPORT_SYNC_WAIT_MS: 1 });

  async function reportOf(role: Role, type: string, purchases: Partial<Purchase>[]) {
    const { account, key } = await api.newAccount(role);
    const owner = role === 'buyer' ? { accountId: account._id } : { sellerId: account._id };
    await PurchaseModel.create(
      purchases.map((each) => someTransaction(Object.assign({ createdAt: at, price: 10_000 }, owner, each))),
    );
    const path = `/api/${role}/reports`;
    const asked = await api.call({ path, key, body: { type, start_date: day, end_date: day } });
    const id = String(asked.body.data.report_id);
    await generateReport(id);
    return (await api.call({ path: `${path}/${id}`, key })).body.data;
  }
  const messagesOf = ({ transactions }: { transactions: { message: string | null }[] }) =>
    transactions.map(({ message }) => message);

  it('say why a purchase failed', async () => {
    const message = 'Nomor tujuan salah';
    const data = await reportOf('buyer', 'transaction', [{ status: 'FAILED', message }]);
    expect(messagesOf(data)).to.deep.equal([message]);
    expect(data.period).to.deep.equal({ start_date: day, end_date: day });
  });

  it('count the revenue of all sales, and that of successful sales apart', async () => {
    const { summary } = await reportOf('seller', 'sales', [
      { status: 'SUCCESS', price: 10_000, commissionAmount: 200 },
      { status: 'SUCCESS', price: 20_000, commissionAmount: 400 },
      { status: 'FAILED', price: 3_000 },
      { status: 'REFUNDED', price: 4_000, commissionAmount: 80 },
      { status: 'PROCESSING', price: 500 },
    ]);
    expect(summary).to.include({
      total_transactions: 5,
      success_transactions: 2,
      failed_transactions: 2,
      total_revenue: 37_500,
      success_revenue: 30_000,
      commission_amount: 600,
      net_revenue: 29_400,
    });
  });
});
