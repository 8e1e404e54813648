import { expect } from 'chai';
import readWorkbook from 'read-excel-file/node';
import { request } from 'undici';
import { apiClient, uniqueRef, type ApiClient } from '../../support/api-client.js';
import { deposit } from '../../support/deposit.js';
import { describedInterface } from '../../../src/api/openapi/document.js';
import type { Schema } from '../../../src/api/openapi/types.js';
import { expectToFitContract } from '../../support/contract.js';
import { csvRows } from '../../support/csv.js';
import { eventually } from '../../support/eventually.js';
import { startStack, type Stack } from '../../support/stack.js';
import { formatIsoTime } from '../../../src/shared/business-time.js';
import { toPrintable } from '../../../src/shared/printable.js';
import { excelValue } from './support/excel-value.js';

describe('reports of both roles', () => {
  let stack: Stack;
  let buyer: ApiClient;
  let seller: ApiClient;
  let key: string;
  const sold = { count: 0, amount: 0 };

  before(async () => {
    stack = await startStack({ workers: ['all'] });
    const accounts = await stack.seed();
    key = accounts['buyer']?.api_key ?? '';
    buyer = apiClient(stack.baseUrl, key);
    seller = apiClient(stack.baseUrl, accounts['seller2']?.api_key ?? '');
    await deposit(buyer, 1_000_000);
    for (const customer_number of ['081234567890', '081234567891', '081234561232']) {
      const { body } = await buyer.post('/api/buyer/transaction', {
        code: 'S10',
        customer_number,
        ref_id: uniqueRef(),
      });
      const done = await eventually('the purchase is final', async () => {
        const { body: now } = await buyer.get(`/v1/transactions/${body.data.transaction_id}`);
        return ['SUCCESS', 'FAILED'].includes(now.data.status) ? now.data : null;
      });
      if (done.status === 'SUCCESS') {
        sold.count += 1;
        sold.amount += done.price as number;
      }
    }
    // Contains a formula and characters that CSV must quote.
    await stack.db
      .collection('transactions')
      .updateOne({ customerNumber: '081234567890' }, { $set: { productName: '=SUM(1,2) "promo"\n' } });
  });
  after(() => stack.stop());

  it('a buyer transaction report has period, the five figures and the items', async () => {
    const { status, body } = await buyer.post('/api/buyer/reports', { type: 'transaction' });
    expect(status).to.equal(200);
    expect(body.data).to.include({ type: 'transaction', truncated: false });
    expect(body.data.period).to.have.all.keys('start_date', 'end_date');
    expect(body.data.summary).to.deep.equal({
      total_transactions: 3,
      success_transactions: 2,
      failed_transactions: 1,
      total_amount: body.data.transactions.reduce(
        (sum: number, each: { price: number }) => sum + each.price,
        0,
      ),
      success_amount: sold.amount,
    });
    expect(body.data.transactions).to.have.length(3);
    expect(body.data.transactions[0]).to.have.all.keys(
      'ref_id',
      'transaction_id',
      'customer_number',
      'code',
      'product_name',
      'price',
      'status',
      'sn',
      'timestamp',
      'message',
    );
  });

  it('a purchase report adds by_category and by_product, a deposit report the average', async () => {
    const purchase = (await buyer.post('/api/buyer/reports', { type: 'purchase' })).body.data.summary;
    expect(purchase.by_category).to.deep.equal([{ key: 'pulsa', count: 2, amount: sold.amount }]);
    expect(purchase.by_product).to.deep.equal([{ key: 'S10', count: 2, amount: sold.amount }]);
    const deposit = (await buyer.post('/api/buyer/reports', { type: 'deposit' })).body.data;
    expect(deposit.summary).to.include({ total_amount: 1_000_000, average_amount: 1_000_000 });
    expect(deposit.transactions).to.have.length(1);
  });

  it('seller reports show revenue and commission, never the buyer', async () => {
    const sales = (await seller.post('/api/seller/reports', { type: 'sales' })).body.data;
    const { total_transactions, commission_amount, ...rest } = sales.summary;
    expect(total_transactions).to.be.at.least(sold.count);
    expect(rest).to.include({
      success_transactions: sold.count,
      total_revenue: sales.transactions.reduce((sum: number, { price }: { price: number }) => sum + price, 0),
      success_revenue: sold.amount,
      commission_rate: 0.02,
      net_revenue: sold.amount - commission_amount,
    });
    expect(JSON.stringify(sales)).not.to.match(/ref_id|accountId|username/);
    const product = (await seller.post('/api/seller/reports', { type: 'product' })).body.data;
    expect(product.summary).to.include({ units_sold: sold.count, total_revenue: sold.amount });
    expect(product.products.find((each: { code: string }) => each.code === 'S10')).to.include({
      units_sold: sold.count,
      revenue: sold.amount,
    });
    expect((await seller.post('/api/seller/reports', { type: 'transaction' })).body.data.summary).to.include({
      success_transactions: sold.count,
    });
  });

  it('csv returns a link that needs no key; rows follow RFC 4180 with a header', async () => {
    const { body } = await buyer.post('/api/buyer/reports', { type: 'transaction', format: 'csv' });
    expect(body.data).to.include({ format: 'csv', rows: 3 });
    const link = new URL(body.data.download_url as string);
    const file = await request(stack.baseUrl + link.pathname + link.search);
    expect(file.statusCode).to.equal(200);
    expect(file.headers['content-type']).to.match(/^text\/csv/);
    const text = await file.body.text();
    expect(text.split('\r\n')).to.have.length(5);
    expect(text.split('\r\n')[0]).to.equal(
      'ref_id,transaction_id,customer_number,code,product_name,price,status,sn,timestamp,message',
    );
    expect(Buffer.byteLength(text)).to.equal(body.data.size);
    const forged = await request(stack.baseUrl + link.pathname + link.search.replace(/.$/, 'x'));
    expect(forged.statusCode).to.equal(401);
  });

  it('with Accept: text/csv the call itself returns the file', async () => {
    const answer = await request(`${stack.baseUrl}/api/buyer/reports`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', accept: 'text/csv' },
      body: JSON.stringify({ type: 'transaction', format: 'csv' }),
    });
    expect(answer.statusCode).to.equal(200);
    expect(await answer.body.text()).to.match(/^ref_id,/);
  });

  it('csv-excel has the rows of json as Excel texts and numbers, without formulas', async () => {
    const body = { type: 'transaction', format: 'csv-excel', tz: 'Asia/Jakarta' };
    const made = (await buyer.post('/api/buyer/reports', body)).body.data;
    expect(made.format).to.equal('csv-excel');
    expect(made.filename).to.match(/\.csv$/);
    const json = (await buyer.post('/api/buyer/reports', { ...body, format: 'json' })).body.data;
    const link = new URL(made.download_url as string);
    const file = await request(stack.baseUrl + link.pathname + link.search);
    expect(file.headers['content-type']).to.match(/^text\/csv; charset=utf-8/);
    const text = Buffer.from(await file.body.arrayBuffer()).toString();
    expect(text.slice(0, 7)).to.equal('\ufeffref_id');
    const [, ...rows] = csvRows(text.slice(1));
    expect(rows.map((row) => row.map(excelValue))).to.deep.equal(
      json.transactions.map((item: Record<string, unknown>) =>
        Object.values(item).map((value) => toPrintable(String((value as string | number | null) ?? ''))),
      ),
    );
    expect(text)
      .to.include('"=""081234567890""",')
      .and.match(/,\d+,"=""success""",/);
  });

  it('xlsx: the link and the call itself return the workbook with the rows of json', async () => {
    const body = { type: 'transaction', format: 'xlsx', tz: 'Asia/Jakarta' };
    const made = (await buyer.post('/api/buyer/reports', body)).body.data;
    expect(made.filename).to.match(/^transaction-report-\w+\.xlsx$/);
    const type = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';
    const link = new URL(made.download_url as string);
    const json = (await buyer.post('/api/buyer/reports', { ...body, format: 'json' })).body.data;
    for (const answer of [
      await request(stack.baseUrl + link.pathname + link.search),
      await request(`${stack.baseUrl}/api/buyer/reports`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', accept: type },
        body: JSON.stringify(body),
      }),
    ]) {
      expect(answer.headers['content-type']).to.equal(type);
      expect(answer.headers['content-disposition']).to.match(/^attachment; filename=".+\.xlsx"$/);
      const file = Buffer.from(await answer.body.arrayBuffer());
      expectToFitContract({
        method: 'GET',
        path: link.pathname,
        status: answer.statusCode,
        headers: answer.headers,
        body: file.toString('latin1'),
      });
      const [sheet] = await readWorkbook(file);
      expect(sheet?.sheet).to.equal('Asia-Jakarta');
      const rows = sheet?.data.slice(1) ?? [];
      expect(rows).to.have.length(json.transactions.length);
      json.transactions.forEach((item: Record<string, unknown>, index: number) => {
        const { timestamp, ...rest } = item;
        const row = rows[index] ?? [];
        const timePlace = Object.keys(item).indexOf('timestamp');
        expect(row.filter((_, place) => place !== timePlace)).to.deep.equal(
          Object.values(rest).map((value) => (typeof value === 'string' ? toPrintable(value) : value)),
        );
        // The xlsx reader truncates the milliseconds, so allow for the difference.
        const reportedMs = Date.parse(`${String(timestamp).slice(0, 23)}Z`);
        expect((row[timePlace] as unknown as Date).getTime()).to.be.closeTo(reportedMs, 1);
      });
    }
  });

  it('times of a report and its link are in the requested zone', async () => {
    const plain = (await buyer.post('/api/buyer/reports', { type: 'transaction' })).body.data;
    const { body } = await buyer.post('/api/buyer/reports', { type: 'transaction', tz: 'Asia/Jakarta' });
    const times = (report: { transactions: { timestamp: string }[] }) =>
      report.transactions.map(({ timestamp }) => timestamp);
    expect(times(body.data)).to.deep.equal(
      times(plain).map((at) => formatIsoTime(new Date(at), 'Asia/Jakarta')),
    );
    expect(body.data.expires_at).to.match(/\+07:00$/);
    expect(body.data.period).to.deep.equal(plain.period);
  });

  const all = [
    ...(['transaction', 'purchase', 'deposit'] as const).map((type) => ({ role: 'buyer', type }) as const),
    ...(['transaction', 'sales', 'product'] as const).map((type) => ({ role: 'seller', type }) as const),
  ];
  for (const { role, type } of all) {
    it(`${role} ${type}: json and csv fit the contract and have the same rows`, async () => {
      const client = role === 'buyer' ? buyer : seller;
      // The client checks each response against the contract.
      const json = (await client.post(`/api/${role}/reports`, { type })).body.data;
      const csv = (await client.post(`/api/${role}/reports`, { type, format: 'csv' })).body.data;
      expect((await client.get(`/api/${role}/reports/${json.report_id}`)).body.data).to.deep.equal(json);
      expect(csv).to.include({ type, format: 'csv', rows: json.rows });
      expect(csv.summary).to.deep.equal(json.summary);
      expect(json.transactions).to.not.be.empty;

      const path = `/api/${role}/reports/${json.report_id}/download`;
      const { body: file } = await client.get(path);
      expect(file).to.deep.equal(json.transactions);

      const columns = Object.keys(itemSchema({ role, type }).properties ?? {});
      const link = new URL(csv.download_url as string);
      const answer = await request(stack.baseUrl + link.pathname + link.search);
      const text = await answer.body.text();
      expectToFitContract({
        method: 'GET',
        path: link.pathname,
        status: answer.statusCode,
        headers: answer.headers,
        body: text,
      });
      expect(csvRows(text)).to.deep.equal([
        columns,
        ...file.map((item: Record<string, unknown>) => columns.map((column) => cellOf(item[column]))),
      ]);
    });
  }

  const refused: [string, object, string][] = [
    [
      'an end before the start',
      { type: 'transaction', start_date: '2024-03-02', end_date: '2024-03-01' },
      'end_date',
    ],
    [
      'more than 366 days',
      { type: 'transaction', start_date: '2020-01-01', end_date: '2022-01-01' },
      'start_date',
    ],
  ];
  for (const [what, body, field] of refused) {
    it(`refuses ${what} with 400/01, naming ${field}`, async () => {
      const answer = await buyer.post('/api/buyer/reports', body);
      expect(answer.status).to.equal(400);
      expect(answer.body.errors[0].field).to.equal(field);
    });
  }
});

/** Returns the OpenAPI schema for the items of a JSON report of this type. */
function itemSchema({ role, type }: { role: string; type: string }): Schema {
  const answer = describedInterface().paths[`/api/${role}/reports`]?.['post']?.responses[200];
  const schema = answer && 'content' in answer ? answer.content['application/json']?.schema : undefined;
  const report = schema?.properties?.['data']?.oneOf?.find(
    ({ properties = {} }) =>
      properties['type']?.enum?.includes(type) === true && properties['transactions'] !== undefined,
  );
  return report?.properties?.['transactions']?.items ?? {};
}

/**
 * Returns the expected CSV cell. Null becomes an empty cell, a formula gets the prefix `'`, and a
 * line break in a name does not end the row (decision 023).
 */
function cellOf(value: unknown): string {
  if (typeof value === 'string') {
    const text = value.trim();
    return /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  }
  return value === null ? '' : JSON.stringify(value);
}
