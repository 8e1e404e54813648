import { expect } from 'chai';
import { listSellerTransactions } from '../../../src/api/seller/list-transactions.js';
import { PurchaseModel, type Purchase } from '../../../src/purchases/purchase.model.js';
import { rebuildTotals } from '../../../src/purchases/rebuild-totals.js';
import { someTransaction } from '../../webhooks/support/accounts.js';
import { useApi } from '../support/api.js';
import { expectFailure, expectSuccess } from '../support/expect-answer.js';
import { itRefusesBodies, notText, notWhole } from '../support/refusals.js';

const path = '/api/seller/transactions';

describe('POST /api/seller/transactions', () => {
  const api = useApi();
  const noDate = [...notText, '', '2024-02-30', '01-02-2024', '2024-01-01T10:00', 'yesterday'];
  itRefusesBodies(api, listSellerTransactions, () => ({ path, body: {} }), {
    status: [...notText, '', 'refunded'],
    start_date: noDate,
    end_date: noDate,
    page: [...notWhole, 0, -1],
    limit: [...notWhole, 0, -1, 101],
    code: [...notText, '', 'x'.repeat(51), 'S 10'],
    sn: [...notText, '', 'x'.repeat(201), '1\u0000'],
  });

  async function sellerWith(rows: Partial<Purchase>[]) {
    const seller = await api.newAccount('seller');
    const sales = rows.map((row) => someTransaction({ sellerId: seller.account._id, ...row }));
    await PurchaseModel.create(sales);
    await rebuildTotals();
    const list = async (body: object) => {
      const answer = await api.call({ path, key: seller.key, body });
      expectSuccess(answer, listSellerTransactions);
      return answer.body.data as { transactions: Record<string, unknown>[]; pagination: object };
    };
    return { ...seller, sales, list };
  }

  it('a sale shows commission, net amount and a masked number, and no buyer data', async () => {
    const { list, sales } = await sellerWith([{ commissionAmount: 210, message: 'said to the buyer' }]);
    const [sale] = sales;
    expect((await list({})).transactions).to.deep.equal([
      {
        transaction_id: sale?._id,
        code: 'S10',
        customer_number: '********1230',
        product_name: 'Telkomsel 10.000',
        price: 10_500,
        commission_amount: 210,
        net_amount: 10_290,
        sn: 'SN-0001',
        status: 'success',
        timestamp: sale?.createdAt.toISOString(),
      },
    ]);
  });

  it('returns newest first, 20 per page by default, at most 100, empty past the end', async () => {
    const at = Date.now();
    const rows = Array.from({ length: 25 }, (_, index) => ({ createdAt: new Date(at - index * 1_000) }));
    const { list, sales } = await sellerWith(rows);
    const ids = sales.map((each) => each._id);
    const first = await list({});
    expect(first.transactions.map((each) => each['transaction_id'])).to.deep.equal(ids.slice(0, 20));
    expect(first.pagination).to.deep.equal({ page: 1, limit: 20, total: 25, total_pages: 2 });
    const second = await list({ page: 2 });
    expect(second.transactions.map((each) => each['transaction_id'])).to.deep.equal(ids.slice(20));
    expect((await list({ limit: 100 })).transactions).to.have.length(25);
    expect((await list({ page: 3 })).transactions).to.deep.equal([]);
  });

  it('filters by each status, refunded as failed, and by business days', async () => {
    const { list } = await sellerWith([
      { status: 'PROCESSING' },
      { status: 'SUCCESS' },
      { status: 'FAILED' },
      { status: 'REFUNDED' },
      { status: 'SUCCESS', createdAt: new Date('2024-03-01T23:59:59.999+07:00') },
      { status: 'SUCCESS', createdAt: new Date('2024-03-02T00:00:00.000+07:00') },
    ]);
    for (const [status, count] of Object.entries({ pending: 0, processing: 1, success: 1, failed: 2 })) {
      const { transactions } = await list({ status });
      expect(transactions.map((each) => each['status'])).to.deep.equal(
        Array.from({ length: count }, () => status),
      );
    }
    const day = { start_date: '2024-03-01', end_date: '2024-03-01' };
    expect((await list({ ...day, status: 'success' })).transactions).to.have.length(1);
    expect((await list({ ...day, end_date: '2024-03-02' })).transactions).to.have.length(2);
  });

  it('filters by product and serial number but never by customer number', async () => {
    const token = '12345678901234567890';
    const { list, sales } = await sellerWith([
      { serialNumber: '1234-5678-9012-3456-7890/BUDI/R1/900VA/71,3', productCode: 'PLN20' },
      { status: 'FAILED', serialNumber: null, productCode: 'PLN20' },
      { serialNumber: 'SN-1', productCode: 'S10', customerNumber: '081299998877' },
      { createdAt: new Date(Date.now() - 31 * 86_400_000), productCode: 'PLN20', serialNumber: 'SN-2' },
    ]);
    const ids = sales.map(({ _id }) => _id);
    const found = async (body: object) =>
      (await list(body)).transactions.map((each) => ids.indexOf(String(each['transaction_id']))).sort();
    expect(await found({ code: 'PLN20' })).to.deep.equal([0, 1]);
    expect(await found({ code: 'PLN20', status: 'FAILED' })).to.deep.equal([1]);
    expect(await found({ sn: token })).to.deep.equal([0]);
    expect(await found({ sn: 'SN-1' })).to.deep.equal([2]);
    expect(await found({ sn: 'SN-1', code: 'PLN20' })).to.deep.equal([]);
    expect(await found({ sn: 'SN-2' })).to.deep.equal([]);
    expect(await found({ customer_number: '081299998877' })).to.deep.equal([0, 1, 2]);
    const second = await list({ code: 'PLN20', page: 2, limit: 1 });
    expect(second.pagination).to.deep.equal({ page: 2, limit: 1, total: 2, total_pages: 2 });
    expect(second.transactions).to.have.length(1);
    const stranger = await sellerWith([]);
    for (const body of [{ code: 'PLN20' }, { sn: 'SN-1' }]) {
      expect((await stranger.list(body)).transactions).to.deep.equal([]);
    }
  });

  it('a search uses its own index and reads only what it finds', async () => {
    const { account } = await sellerWith(
      Array.from({ length: 30 }, (_, n) => ({
        productCode: n === 0 ? 'RARE' : 'S10',
        serialNumber: `SN-${n}`,
      })),
    );
    const createdAt = { $gte: new Date(0), $lte: new Date(Date.now() + 1_000) };
    for (const [sought, index] of [
      [{ productCode: 'RARE' }, 'seller_product_newest'],
      [{ serialNumber: { $type: 'string', $eq: 'SN-0' } }, 'seller_serial_number'],
    ] as const) {
      const plan = await PurchaseModel.collection
        .find({ sellerId: account._id, ...sought, createdAt } as never)
        .sort({ createdAt: -1, _id: -1 })
        .explain('executionStats');
      expect(JSON.stringify(plan), index).to.include(`"${index}"`);
      const { totalDocsExamined } = plan['executionStats'] as { totalDocsExamined: number };
      expect(totalDocsExamined, index).to.be.at.most(1);
    }
  });

  it('allows 366 days and refuses an end before the start with 400/01', async () => {
    const { list, key } = await sellerWith([]);
    await list({ start_date: '2023-01-01', end_date: '2024-01-01' });
    const tooLong = { start_date: '2023-01-01', end_date: '2024-01-02' };
    expectFailure(await api.call({ path, key, body: tooLong }), {
      status: 400,
      code: '01',
      field: 'start_date',
    });
    const backwards = { start_date: '2024-01-02', end_date: '2024-01-01' };
    expectFailure(await api.call({ path, key, body: backwards }), {
      status: 400,
      code: '01',
      field: 'end_date',
    });
  });

  it('shows no sale of another seller or without a seller', async () => {
    await sellerWith([{}]);
    const { list, account } = await sellerWith([]);
    await PurchaseModel.create([someTransaction({ accountId: account._id, sellerId: null })]);
    expect((await list({})).pagination).to.include({ total: 0, total_pages: 0 });
  });
});
