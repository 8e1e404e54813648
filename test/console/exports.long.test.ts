/** Lists as files: each export is audited, and an unknown filter is refused. */
import { expect } from 'chai';
import type { Document } from 'mongodb';
import { consoleOperations } from '../../src/console/api/operations.js';
import { callerAs, type Caller } from './support/console-caller.js';
import { startOperatedStack, type OperatedStack } from './support/operated-stack.js';

const any = { accept: '*/*' };
/** A client that does not accept HTML gets JSON. */
const asScript = { accept: 'application/json' };

describe('exports of the console', function () {
  this.timeout(90_000);
  let shop: OperatedStack;
  let viewer: Caller;
  let admin: Caller;

  before(async () => {
    shop = await startOperatedStack();
    [viewer, admin] = [await callerAs(shop, 'viewer'), await callerAs(shop, 'admin')];
    await shop.sold();
    await shop.underReview();
  });
  after(() => shop.stack.stop());

  const exportsOf = ({ username }: Caller): Promise<Document[]> =>
    shop.stack.db
      .collection('audit')
      .find({ actor: `operator:${username}`, action: /\.export/ })
      .sort({ at: 1, _id: 1 })
      .toArray();

  it('audits an export of purchases with actor, address and filter', async () => {
    const csv = await viewer.client.get('/admin/purchases.csv?account=buyer', any);
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
    for (const wrong of ['account=nobody', 'acount=buyer', 'from=x']) {
      const refused = await viewer.client.get(`/admin/purchases.csv?${wrong}`, any);
      expect(refused.status, wrong).to.be.within(400, 404);
    }
    expect(await exportsOf(viewer)).to.have.length(2);
  });

  it('audits an export of the audit log, and the file begins with that entry', async () => {
    const csv = await admin.client.get('/admin/audit.csv?kind=audit', any);
    expect(csv.text.split('\r\n')[1]).to.include('audit.export').and.to.include(`operator:${admin.username}`);
    expect((await exportsOf(admin)).map(({ action, subject }) => [action, subject])).to.deep.equal([
      ['audit.export', { kind: 'audit', id: 'all' }],
      ['audit.export.done', { kind: 'audit', id: 'all' }],
    ]);
    await admin.client.get('/admin/audit.csv?subject=081234567890', any);
    const filter = { subject: '********7890' };
    expect((await exportsOf(admin)).slice(-2).map(({ after }) => after.filter)).to.deep.equal([
      filter,
      filter,
    ]);
  });

  it('in_review is `true` or `false`', async () => {
    const csv = await viewer.client.get('/admin/purchases.csv', any);
    const [head = '', ...lines] = csv.text.trim().split('\r\n');
    const at = head.split(',').indexOf('in_review');
    expect(new Set(lines.map((line) => line.split(',')[at]))).to.deep.equal(new Set(['true', 'false']));
  });

  it('refuses an unknown query field by name', async () => {
    const reads = consoleOperations.filter(({ method }) => method === 'get');
    expect(reads.length).to.be.above(20);
    const urls = [
      ...reads.map(({ path }) => `/admin/api${path.replace(/:\w+/g, 'nobody')}`),
      '/admin/purchases.csv',
      '/admin/audit.csv',
      '/admin/accounts/buyer/statement.csv',
      '/admin/accounts/buyer/statement.pdf',
    ];
    for (const url of urls) {
      const answer = await admin.client.get(`${url}?acount=buyer`, asScript);
      expect(answer.status, `${url} ${answer.text}`).to.equal(400);
      expect(JSON.parse(answer.text).errors, url).to.deep.include({
        field: 'acount',
        reason: 'not_accepted',
        message: 'acount is not a known field',
      });
    }
    for (const place of ['before=2026-01-01', 'limit=1', '__proto__=1', `${'x'.repeat(5_000)}=1`]) {
      const answer = await admin.client.get(`/admin/audit.csv?${place}`, asScript);
      const [name = ''] = place.split('=');
      expect(answer.status, place.slice(0, 50)).to.equal(400);
      expect(answer.text).to.include(`"field":"${name.slice(0, 100)}"`);
    }
  });
});
