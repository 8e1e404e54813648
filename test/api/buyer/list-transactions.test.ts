import { expect } from 'chai';
import { listBuyerTransactions } from '../../../src/api/buyer/transactions.js';
import { PurchaseModel, type Purchase } from '../../../src/purchases/purchase.model.js';
import { rebuildTotals } from '../../../src/purchases/rebuild-totals.js';
import { someTransaction } from '../../webhooks/support/accounts.js';
import { useApi } from '../support/api.js';
import { expectFailure, expectSuccess } from '../support/expect-answer.js';
import { itRefusesBodies, notText, notWhole } from '../support/refusals.js';

const path = '/api/buyer/transactions';
const dayMs = 86_400_000;

describe('POST /api/buyer/transactions', () => {
  const api = useApi();
  const good = () => ({ path, body: {} });
  const noDate = [
    ...notText,
    '',
    '2024-02-30',
    '2024-13-01',
    '2024-1-1',
    '01-02-2024',
    '2024-01-01T10:00',
    'yesterday',
  ];
  itRefusesBodies(api, listBuyerTransactions, good, {
    status: [...notText, '', 'refunded', 'all'],
    start_date: noDate,
    end_date: noDate,
    page: [...notWhole, 0, -1],
    limit: [...notWhole, 0, -1, 101],
    code: [...notText, '', 'x'.repeat(51), 'S 10'],
    customer_number: [...notText, '', 'x'.repeat(101), '08\u0000'],
    sn: [...notText, '', 'x'.repeat(201), '1\u0000'],
  });

  async function buyerWith(rows: Partial<Purchase>[]) {
    const buyer = await api.newBuyer();
    const transactions = rows.map((row) => someTransaction({ accountId: buyer.account._id, ...row }));
    await PurchaseModel.create(transactions);
    await rebuildTotals();
    const list = async (body: object) => {
      const answer = await api.call({ path, key: buyer.key, body });
      expectSuccess(answer, listBuyerTransactions);
      return answer.body.data as {
        transactions: { ref_id: string; status: string }[];
        pagination: object;
        period: object;
      };
    };
    return { ...buyer, transactions, list };
  }

  it('counts a row that is not in the totals yet', async () => {
    const at = Date.now();
    const rows = Array.from({ length: 3 }, (_, index) => ({ createdAt: new Date(at - index * 1_000) }));
    const { account, list, transactions } = await buyerWith(rows);
    // Insert the row without counting it in the totals.
    const newest = someTransaction({ accountId: account._id, createdAt: new Date(at + 1) });
    await PurchaseModel.create([newest]);
    const page = await list({ limit: 3 });
    const refs = [newest, ...transactions].map((each) => each.refId);
    expect(page.transactions.map((each) => each.ref_id)).to.deep.equal(refs.slice(0, 3));
    expect(page.pagination).to.deep.equal({ page: 1, limit: 3, total: 4, total_pages: 2 });
    expect((await list({ limit: 4 })).pagination).to.include({ total: 4, total_pages: 1 });
  });

  it('returns newest first, 20 per page by default, at most 100, empty past the end', async () => {
    const at = Date.now();
    const rows = Array.from({ length: 25 }, (_, index) => ({ createdAt: new Date(at - index * 1_000) }));
    const { list, transactions } = await buyerWith(rows);
    const refs = transactions.map((each) => each.refId);
    const first = await list({});
    expect(first.transactions.map((each) => each.ref_id)).to.deep.equal(refs.slice(0, 20));
    expect(first.pagination).to.deep.equal({ page: 1, limit: 20, total: 25, total_pages: 2 });
    const second = await list({ page: 2 });
    expect(second.transactions.map((each) => each.ref_id)).to.deep.equal(refs.slice(20));
    expect((await list({ limit: 100 })).transactions).to.have.length(25);
    expect((await list({ limit: 1, page: 25 })).transactions[0]?.ref_id).to.equal(refs[24]);
    const past = await list({ page: 3 });
    expect(past.transactions).to.deep.equal([]);
    expect(past.pagination).to.deep.equal({ page: 3, limit: 20, total: 25, total_pages: 2 });
  });

  it('filters by each status; failed includes refunded', async () => {
    const { list } = await buyerWith([
      { status: 'PENDING' },
      { status: 'PROCESSING' },
      { status: 'SUCCESS' },
      { status: 'FAILED' },
      { status: 'REFUNDED' },
    ]);
    const counts: Record<string, number> = { pending: 1, processing: 1, success: 1, failed: 2 };
    for (const [status, count] of Object.entries(counts)) {
      const { transactions } = await list({ status: count > 1 ? status.toUpperCase() : status });
      expect(transactions.map((each) => each.status)).to.deep.equal(
        Array.from({ length: count }, () => status),
      );
    }
  });

  it('dates are whole business days and date-times are instants', async () => {
    const createdAt = (time: string) => ({ createdAt: new Date(`${time}+07:00`) });
    const { list, transactions } = await buyerWith([
      createdAt('2024-03-02T00:00:00.000'),
      createdAt('2024-03-01T23:59:59.999'),
      createdAt('2024-03-01T00:00:00.000'),
      createdAt('2024-02-29T23:59:59.999'),
    ]);
    const refs = transactions.map((each) => each.refId);
    const between = async (start_date: string, end_date: string) =>
      (await list({ start_date, end_date })).transactions.map((each) => each.ref_id);
    expect(await between('2024-03-01', '2024-03-01')).to.deep.equal(refs.slice(1, 3));
    expect(await between('2024-02-29', '2024-03-02')).to.deep.equal(refs);
    expect(await between('2024-02-29T17:00:00Z', '2024-03-01T16:59:59.999Z')).to.deep.equal(refs.slice(1, 3));
  });

  it('says which period it covers, in the zone of its times', async () => {
    const { list } = await buyerWith([]);
    const day = { start_date: '2024-03-01', end_date: '2024-03-01' };
    const expected = { start_date: '2024-02-29T17:00:00.000Z', end_date: '2024-03-01T16:59:59.999Z' };
    expect((await list(day)).period).to.deep.equal(expected);
    expect((await list({ ...day, code: 'S10' })).period).to.deep.equal(expected);
    expect((await list({ ...day, tz: 'Asia/Jakarta' })).period).to.deep.equal({
      start_date: '2024-03-01T00:00:00.000+07:00',
      end_date: '2024-03-01T23:59:59.999+07:00',
    });
    const usual = await list({});
    expect((await list(usual.period)).period).to.deep.equal(usual.period);
  });

  it('keeps its pages while the period of the first one is sent back', async () => {
    const at = Date.now();
    const rows = Array.from({ length: 4 }, (_, index) => ({ createdAt: new Date(at - index * 1_000) }));
    const { account, list, transactions } = await buyerWith(rows);
    const end_date = new Date(at).toISOString();
    const first = await list({ end_date, limit: 2 });
    await PurchaseModel.create([someTransaction({ accountId: account._id, createdAt: new Date(at + 1) })]);
    const second = await list({ ...first.period, limit: 2, page: 2 });
    const shown = [...first.transactions, ...second.transactions].map((each) => each.ref_id);
    expect(shown).to.deep.equal(transactions.map((each) => each.refId));
  });

  it('defaults to 30 days, allows 366 and refuses an end before the start', async () => {
    const { list, key } = await buyerWith([{}, { createdAt: new Date(Date.now() - 31 * dayMs) }]);
    expect((await list({})).transactions).to.have.length(1);
    await list({ start_date: '2023-01-01', end_date: '2024-01-01' });
    const refused = async (body: object) => {
      expectFailure(await api.call({ path, key, body }), { status: 400, code: '01' });
    };
    await refused({ start_date: '2023-01-01', end_date: '2024-01-02' });
    await refused({ start_date: '2024-01-02', end_date: '2024-01-01' });
  });

  it('filters by product, customer number and serial number in any spelling', async () => {
    const token = '12345678901234567890';
    const { list, transactions } = await buyerWith([
      {
        status: 'SUCCESS',
        serialNumber: '1234-5678-9012-3456-7890/BUDI/R1/900VA/71,3',
        productCode: 'PLN20',
      },
      { status: 'SUCCESS', serialNumber: `${token}1/BUDI/R1/900VA/71,3`, productCode: 'PLN20' },
      { status: 'FAILED', productCode: 'PLN20', customerNumber: '081299998877' },
      { status: 'SUCCESS', serialNumber: 'SN-1', productCode: 'S10', customerNumber: '081299998877' },
      { createdAt: new Date(Date.now() - 31 * dayMs), productCode: 'PLN20' },
    ]);
    const refs = transactions.map(({ refId }) => refId);
    const found = async (body: object) =>
      (await list(body)).transactions.map(({ ref_id: ref }) => refs.indexOf(ref)).sort();
    expect(await found({ code: 'PLN20' })).to.deep.equal([0, 1, 2]);
    expect(await found({ code: 'PLN20', status: 'failed' })).to.deep.equal([2]);
    expect(await found({ customer_number: '+62 812-9999-8877' })).to.deep.equal([2, 3]);
    expect(await found({ customer_number: '081299998877', code: 'S10' })).to.deep.equal([3]);
    expect(await found({ sn: token })).to.deep.equal([0]);
    expect(await found({ sn: '1234-5678-9012-3456-7890' })).to.deep.equal([0]);
    expect(await found({ sn: 'SN-1' })).to.deep.equal([3]);
    expect(await found({ sn: 'SN-' })).to.deep.equal([]);
    const second = await list({ code: 'PLN20', page: 2, limit: 2 });
    expect(second.pagination).to.deep.equal({ page: 2, limit: 2, total: 3, total_pages: 2 });
    expect(second.transactions).to.have.length(1);
    const stranger = await buyerWith([]);
    for (const body of [{ code: 'PLN20' }, { customer_number: '081299998877' }, { sn: 'SN-1' }]) {
      expect((await stranger.list(body)).transactions).to.deep.equal([]);
    }
  });

  it('does not show transactions of another account', async () => {
    await buyerWith([{}]);
    const { list } = await buyerWith([]);
    expect((await list({})).pagination).to.include({ total: 0, total_pages: 0 });
  });
});
