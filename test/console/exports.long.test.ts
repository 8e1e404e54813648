/**
 * The lists, sums and files of the console. Filters are exact, invalid filters are refused, and
 * each export is audited.
 */
import { expect } from 'chai';
import type Joi from 'joi';
import type { Document } from 'mongodb';
import { consoleOperations } from '../../src/console/api/operations.js';
import { newId } from '../../src/shared/ids.js';
import { uniqueRef } from '../support/api-client.js';
import { consoleClient } from '../support/console-client.js';
import { callerAs, reason, type Caller } from './support/console-caller.js';
import { startOperatedStack, type OperatedStack } from './support/operated-stack.js';

const acceptAnything = { accept: '*/*' };
/** A client that does not accept HTML gets JSON errors. */
const acceptJson = { accept: 'application/json' };
const files = [
  '/purchases.csv',
  '/audit.csv',
  '/accounts/buyer/statement.csv',
  '/accounts/buyer/statement.pdf',
];

interface Row {
  id: string;
  ref_id: string;
  price: number;
  status: string;
}

interface Sums {
  count: number;
  by_status: { status: string; count: number; amount: number }[];
  commission: number;
  looked_back_to: string | null;
}

describe('lists and exports of the console', function () {
  this.timeout(90_000);
  let shop: OperatedStack;
  let viewer: Caller;
  let admin: Caller;

  before(async () => {
    shop = await startOperatedStack();
    [viewer, admin] = [await callerAs(shop, 'viewer'), await callerAs(shop, 'admin')];
    for (let n = 0; n < 3; n++) {
      await shop.buySuccessfully();
    }
    await shop.buyUnderReview();
  });
  after(() => shop.stack.stop());

  const listed = async (filter: string): Promise<Row[]> =>
    (await viewer.ask('listPurchases', `/purchases?limit=100&${filter}`)).purchases;
  const summed = (filter: string): Promise<Sums> =>
    viewer.ask('getPurchaseSums', `/purchases/sums?${filter}`);

  /** Computes the expected sums from the rows. */
  function byStatusOf(rows: Row[]): Sums['by_status'] {
    const order = ['PENDING', 'PROCESSING', 'SUCCESS', 'FAILED', 'REFUNDED'];
    return order
      .map((status) => ({ status, rows: rows.filter((each) => each.status === status) }))
      .filter((each) => each.rows.length > 0)
      .map((each) => ({
        status: each.status,
        count: each.rows.length,
        amount: each.rows.reduce((sum, { price }) => sum + price, 0),
      }));
  }

  const exportsOf = ({ username }: Caller): Promise<Document[]> =>
    shop.stack.db
      .collection('audit')
      .find({ actor: `operator:${username}`, action: /\.export/ })
      .sort({ at: 1, _id: 1 })
      .toArray();

  it('audits an export of purchases with actor, address and filter', async () => {
    const csv = await viewer.client.get('/admin/purchases.csv?account=buyer', acceptAnything);
    const rows = csv.text.trim().split('\r\n').length - 1;
    expect(rows).to.be.at.least(2);
    const entries = await exportsOf(viewer);
    const what = { file: 'purchases.csv', filter: { account: 'buyer' } };
    expect(entries.map(({ action, after }) => ({ action, after }))).to.deep.equal([
      { action: 'purchase.export', after: what },
      { action: 'purchase.export.done', after: { ...what, rows, cut: false } },
    ]);
    for (const entry of entries) {
      expect(entry).to.deep.include({ from: '198.51.100.7', subject: { kind: 'transaction', id: 'all' } });
    }
    for (const [wrong, status] of [
      ['account=nobody', 404],
      ['acount=buyer', 400],
      ['from=x', 400],
    ] as const) {
      const refused = await viewer.client.get(`/admin/purchases.csv?${wrong}`, acceptAnything);
      expect(refused.status, wrong).to.equal(status);
    }
    expect(await exportsOf(viewer)).to.have.length(2);
  });

  it('audits an export of the audit log, and the file begins with that entry', async () => {
    const csv = await admin.client.get('/admin/audit.csv?kind=audit', acceptAnything);
    expect(csv.text.split('\r\n')[1]).to.include('audit.export').and.to.include(`operator:${admin.username}`);
    expect((await exportsOf(admin)).map(({ action, subject }) => [action, subject])).to.deep.equal([
      ['audit.export', { kind: 'audit', id: 'all' }],
      ['audit.export.done', { kind: 'audit', id: 'all' }],
    ]);
    await admin.client.get('/admin/audit.csv?subject=081234567890', acceptAnything);
    const filter = { subject: '********7890' };
    expect((await exportsOf(admin)).slice(-2).map(({ after }) => after.filter)).to.deep.equal([
      filter,
      filter,
    ]);
  });

  it('writes in_review as `true` or `false`', async () => {
    const csv = await viewer.client.get('/admin/purchases.csv', acceptAnything);
    const [head = '', ...lines] = csv.text.trim().split('\r\n');
    const at = head.split(',').indexOf('in_review');
    expect(new Set(lines.map((line) => line.split(',')[at]))).to.deep.equal(new Set(['true', 'false']));
  });

  it('sums filtered purchases to the rupiah, from totals or from rows', async () => {
    const day = new Intl.DateTimeFormat('en-CA', { timeZone: 'Asia/Jakarta' }).format(new Date());
    const transactions = shop.stack.db.collection('transactions');
    const kept = await transactions.find({ status: 'SUCCESS' }).toArray();
    const commission = kept.reduce((sum, each) => sum + Number(each['commissionAmount'] ?? 0), 0);
    for (const filter of [
      '',
      'account=buyer',
      'account=buyer&status=SUCCESS',
      'account=buyer&status=REFUNDED',
      `account=buyer&from=${day}&to=${day}`,
      'account=buyer&to=2025-12-31',
      'seller=seller',
      'account=buyer&seller=seller',
      'product=S10',
      `from=${day}`,
    ]) {
      const rows = await listed(filter);
      const sums = await summed(filter);
      expect(sums.by_status, filter).to.deep.equal(byStatusOf(rows));
      expect(sums, filter).to.include({ count: rows.length, looked_back_to: null });
      const isOfAll = rows.filter(({ status }) => status === 'SUCCESS').length === kept.length;
      expect(sums.commission, filter).to.equal(isOfAll ? commission : 0);
    }
    expect((await summed('account=buyer&status=SUCCESS')).count).to.be.at.least(3);
    expect((await viewer.call('/purchases/sums?account=nobody')).status).to.equal(404);
  });

  it('finds purchases by price, both bounds included, and refuses an invalid price', async () => {
    const transactions = shop.stack.db.collection<{ _id: string; price: number }>('transactions');
    const [pattern] = await transactions.find().sort({ _id: -1 }).limit(1).toArray();
    const productCode = uniqueRef('P');
    const prices = [999, 1_000, 1_500, 2_000, 2_001];
    await transactions.insertMany(
      prices.map((price) => ({ ...pattern, _id: newId(), refId: uniqueRef(), productCode, price })),
    );
    try {
      const filter = `product=${productCode}&price_from=1000&price_to=2000`;
      const pricesOf = (rows: Row[]) => rows.map(({ price }) => price).sort((a, b) => a - b);
      expect(pricesOf(await listed(filter))).to.deep.equal([1_000, 1_500, 2_000]);
      expect((await summed(filter)).by_status.reduce((sum, { amount }) => sum + amount, 0)).to.equal(4_500);
      expect(pricesOf(await listed(`account=buyer&price_to=999`))).to.deep.equal([999]);
    } finally {
      await transactions.deleteMany({ productCode });
    }
    for (const wrong of ['price_from=-1', 'price_to=x', 'price_from=1.5']) {
      const answer = await viewer.call(`/purchases?${wrong}`);
      expect(answer.status, wrong).to.equal(400);
      expect(answer.text).to.include(wrong.slice(0, wrong.indexOf('=')));
    }
  });

  it('sums of too many rows state how far back they go', async () => {
    const transactions = shop.stack.db.collection<{ _id: string }>('transactions');
    const [pattern] = await transactions.find().sort({ _id: -1 }).limit(1).toArray();
    const startMs = Date.UTC(2026, 0, 1);
    await transactions.insertMany(
      Array.from({ length: 5_001 }, (_, n) => ({
        ...pattern,
        _id: (startMs + n).toString(16).padStart(12, '0').padEnd(32, '7'),
        refId: `many-${n}`,
        createdAt: new Date(startMs + n),
      })),
    );
    try {
      const sums = await summed('product=S10');
      expect(sums.looked_back_to).to.match(/^2026-01-01/);
      expect(sums.count).to.equal(5_000);
    } finally {
      await transactions.deleteMany({ refId: /^many-/ });
    }
  });

  it('exports all matching purchases as CSV, only after login', async () => {
    const rows = await listed('account=buyer&status=SUCCESS');
    const csv = await viewer.client.get('/admin/purchases.csv?account=buyer&status=SUCCESS', acceptAnything);
    expect(csv.headers['content-type']).to.match(/^text\/csv/);
    const [head, ...lines] = csv.text.trim().split('\r\n');
    expect(head).to.include('ref_id,product_code,product_name,customer_number,price,status');
    expect(lines).to.have.length(rows.length);
    rows.forEach(({ id, price }, at) => {
      expect(lines[at]).to.include(`=""${id}""`).and.to.include(`,${price},`);
    });
    const stranger = consoleClient(shop.stack.baseUrl, '198.51.100.9');
    const refused = await stranger.get('/admin/purchases.csv', acceptAnything);
    expect(refused.status).to.be.oneOf([302, 303, 401]);
    expect(refused.text).to.not.include('customer_number');
  });

  it('refuses an unknown query field by name', async () => {
    const reads = consoleOperations.filter(({ method }) => method === 'get');
    expect(reads.length).to.be.above(20);
    const urls = [
      ...reads.map(({ path }) => `/admin/api${path.replace(/:\w+/g, 'nobody')}`),
      ...files.map((path) => `/admin${path}`),
    ];
    for (const url of urls) {
      const answer = await admin.client.get(`${url}?acount=buyer`, acceptJson);
      expect(answer.status, `${url} ${answer.text}`).to.equal(400);
      expect(JSON.parse(answer.text).errors, url).to.deep.include({
        field: 'acount',
        reason: 'not_accepted',
        message: 'acount is not a known field',
      });
    }
    for (const place of ['before=2026-01-01', 'limit=1', '__proto__=1', `${'x'.repeat(5_000)}=1`]) {
      const answer = await admin.client.get(`/admin/audit.csv?${place}`, acceptJson);
      const [name = ''] = place.split('=');
      expect(answer.status, place.slice(0, 50)).to.equal(400);
      expect(answer.text).to.include(`"field":"${name.slice(0, 100)}"`);
    }
  });

  it('refuses an end before the start in every list, sum and file, naming the field', async () => {
    const [from, to] = ['2026-11-02', '2026-11-01'];
    const inQuery = consoleOperations.filter(({ query }) => takesPeriod(query)).map(({ path }) => path);
    const inBody = consoleOperations.filter(({ body }) => takesPeriod(body)).map(({ path }) => path);
    expect(inQuery).to.include.members([
      '/purchases',
      '/deliveries',
      '/audit',
      '/accounts/:username/statement',
    ]);
    expect(inBody).to.deep.equal(['/deliveries/replay-dead']);
    // The count of dead deliveries can be filtered only together with an account.
    const narrowed = (path: string) => (path === '/deliveries/dead-count' ? 'account=buyer&' : '');
    const lists = inQuery.map((path) => `/api${path.replace(':username', 'buyer')}?${narrowed(path)}`);
    const refused = async (path: string) => {
      const answer = await admin.client.get(`/admin${path}from=${from}&to=${to}`, acceptAnything);
      expect(answer.status, `${path} ${answer.text}`).to.equal(400);
      return answer.text;
    };
    for (const path of lists) {
      expect(JSON.parse(await refused(path)).errors, path).to.deep.equal([
        { field: 'to', message: 'to must not be before from', reason: 'out_of_range' },
      ]);
    }
    for (const path of files) {
      expect(await refused(`${path}?`), path).to.include('to must not be before from');
    }
    for (const path of inBody) {
      const answer = await admin.call(path, { account: 'buyer', from, to, reason });
      expect(answer.status, `${path} ${answer.text}`).to.equal(400);
      expect(JSON.parse(answer.text).errors[0].field, path).to.equal('to');
    }
    const oneDay = await admin.call(`/purchases?from=${to}&to=${to}`);
    expect(oneDay.status, oneDay.text).to.equal(200);
  });
});

function takesPeriod(schema: Joi.Schema | undefined): boolean {
  const { keys = {} } = (schema?.describe() ?? {}) as { keys?: object };
  return 'from' in keys && 'to' in keys;
}
