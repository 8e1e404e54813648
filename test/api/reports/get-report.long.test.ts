import { expect } from 'chai';
import { setAccountStatus } from '../../../src/accounts/changes/set-account.js';
import { AuditModel } from '../../../src/audit/audit.model.js';
import { operations } from '../../../src/api/operations.js';
import type { AnyOperation } from '../../../src/api/contract/operation.js';
import { generateReport } from '../../../src/reports/generate-report.js';
import { ReportModel } from '../../../src/reports/report.model.js';
import { PurchaseModel } from '../../../src/purchases/purchase.model.js';
import { someTransaction } from '../../webhooks/support/accounts.js';
import { uniqueAddress, useApi } from '../support/api.js';
import { expectFailure, expectSuccess } from '../support/expect-answer.js';
import { useSettings } from '../../support/use-settings.js';

for (const role of ['buyer', 'seller'] as const) {
  const root = `/api/${role}/reports`;

  describe(`GET ${root}/{id}, and its download`, () => {
    const api = useApi();
    // No worker runs here: the tests generate the reports.
    useSettings({ REPORT_SYNC_WAIT_MS: 1 });

    /** Creates an account with one transaction and requests a report. */
    async function requestReport(format: 'json' | 'csv' = 'json') {
      const { key, account } = await api.newAccount(role);
      const owner = role === 'buyer' ? { accountId: account._id } : { sellerId: account._id };
      const transaction = someTransaction({ ...owner, commissionAmount: 210 });
      await PurchaseModel.create([transaction]);
      const first = await api.call({ path: root, key, body: { type: 'transaction', format } });
      const id = String(first.body.data.report_id);
      const get = () => api.call({ path: `${root}/${id}`, key });
      const download = () => api.call({ path: `${root}/${id}/download`, key });
      return { first, id, transaction, get, download, key, account };
    }

    it('returns 202/05 while pending and 404/02 for the file; sums of no rows are 0', async () => {
      const { first, id, transaction, get, download } = await requestReport();
      for (const answer of [first, await get()]) {
        expectSuccess(answer, operationOf('get'), { status: 202, code: '05' });
        expect(answer.body.data).to.include({
          report_id: id,
          type: 'transaction',
          format: 'json',
          status: 'pending',
        });
      }
      expectFailure(await download(), { status: 404, code: '02' });
      await PurchaseModel.deleteOne({ _id: transaction._id });
      await generateReport(id);
      expect((await get()).body.data.summary).to.include({ total_transactions: 0 });
    });

    it('returns 200/00 with summary and items, and the whole file', async () => {
      const { id, transaction, get, download } = await requestReport();
      await generateReport(id);
      const answer = await get();
      expectSuccess(answer, operationOf('get'));
      expect(answer.body.data).to.deep.include({ report_id: id, rows: 1, truncated: false });
      expect(answer.body.data.summary).to.include({ total_transactions: 1, success_amount: 10_500 });
      const [item] = answer.body.data.transactions;
      expect(item).to.include({ transaction_id: transaction._id, price: 10_500 });
      const file = await download();
      expect(file.status).to.equal(200);
      expect(file.headers['content-type']).to.match(/^application\/json/);
      expect(file.headers['content-disposition']).to.include(`"${String(answer.body.data.filename)}"`);
      expect(file.body).to.deep.equal([item]);
    });

    it('csv: returns a link, and the file has a header and one row', async () => {
      const { id, transaction, get, download } = await requestReport('csv');
      await generateReport(id);
      const answer = await get();
      expectSuccess(answer, operationOf('get'));
      expect(answer.body.data).to.not.have.property('transactions');
      const file = await download();
      expect(file.headers['content-type']).to.match(/^text\/csv/);
      const [header, row, end, ...more] = (file.body as string).split('\r\n');
      expect(header?.split(',')).to.include.members(['transaction_id', 'price', 'status', 'timestamp']);
      expect(row).to.include(transaction._id);
      expect([end, ...more]).to.deep.equal(['']);
    });

    it('a link works only from addresses that its account allows', async () => {
      const { id, key, get } = await requestReport();
      await generateReport(id);
      const link = new URL(String((await get()).body.data.download_url));
      const from = uniqueAddress();
      const follow = (address: string) => api.call({ path: link.pathname + link.search, from: address });
      expect((await follow(uniqueAddress())).status).to.equal(200);
      const change = { path: `/api/${role}/api/config`, key, body: { ip_whitelist: [from] }, from };
      expect((await api.call(change)).status).to.equal(200);
      expectFailure(await follow(uniqueAddress()), { status: 403, code: '07' });
      expect((await follow(from)).status).to.equal(200);
    });

    describe('revoked links', () => {
      async function createReportWithLink() {
        const report = await requestReport();
        await generateReport(report.id);
        const link = async () => new URL(String((await report.get()).body.data.download_url));
        const follow = ({ pathname, search }: URL) => api.call({ path: pathname + search });
        return { ...report, link, follow };
      }

      it('of one report return 401/07; other reports and new links still work', async () => {
        const { id, key, link, follow } = await createReportWithLink();
        const other = await api.call({ path: root, key, body: { type: 'transaction', format: 'csv' } });
        await generateReport(String(other.body.data.report_id));
        const others = await api.call({ path: `${root}/${String(other.body.data.report_id)}`, key });
        const before = await link();
        expect((await follow(before)).status).to.equal(200);
        const revoked = await api.call({ path: `${root}/${id}/links/revoke`, key, method: 'POST' });
        expectSuccess(revoked, operationAt(`${root}/:id/links/revoke`));
        expectFailure(await follow(before), { status: 401, code: '07' });
        expect((await follow(new URL(String(others.body.data.download_url)))).status).to.equal(200);
        const after = await link();
        expect((await follow(after)).status).to.equal(200);
        await api.call({ path: `${root}/${id}/links/revoke`, key, method: 'POST' });
        expectFailure(await follow(after), { status: 401, code: '07' });
      });

      it("for another account's report: returns 404/02 and keeps the links", async () => {
        const { id, link, follow } = await createReportWithLink();
        const stranger = await api.newAccount(role);
        const path = `${root}/${id}/links/revoke`;
        expectFailure(await api.call({ path, key: stranger.key, method: 'POST' }), {
          status: 404,
          code: '02',
        });
        expect((await follow(await link())).status).to.equal(200);
      });

      it('for the whole account: ends every earlier link and writes an audit entry', async () => {
        const { key, account, link, follow } = await createReportWithLink();
        const before = await link();
        const revoked = await api.call({ path: `${root}/links/revoke`, key, method: 'POST' });
        expectSuccess(revoked, operationAt(`${root}/links/revoke`));
        expectFailure(await follow(before), { status: 401, code: '07' });
        expect((await follow(await link())).status).to.equal(200);
        const entry = await AuditModel.findOne({ 'subject.id': account._id, action: 'account.revoke-links' });
        expect(entry?.actor).to.equal(`account:${account.username}`);
      });

      it('a key rotated with overlap 0 ends its links; one with an overlap does not', async () => {
        const { key, link, follow } = await createReportWithLink();
        const rotate = (by: string, overlap_minutes: number) =>
          api.call({ path: `/api/${role}/api/keys/rotate`, key: by, body: { overlap_minutes } });
        const before = await link();
        const second = await rotate(key, 60);
        expect((await follow(before)).status).to.equal(200);
        const third = await rotate(String(second.body.data.api_key), 0);
        expect(third.status).to.equal(200);
        expectFailure(await follow(before), { status: 401, code: '07' });
      });

      it('of a suspended account return 403/07', async () => {
        const { account, link, follow } = await createReportWithLink();
        const before = await link();
        await setAccountStatus(account, 'suspended', { actor: 'cli:test', from: null, reason: 'a test' });
        expectFailure(await follow(before), { status: 403, code: '07' });
      });

      function operationAt(path: string): AnyOperation {
        const found = operations.find((each) => each.path === path);
        if (!found) {
          throw new Error(`There is no ${path}`);
        }
        return found;
      }
    });

    it('an unknown or expired report returns 404/02, with and without download', async () => {
      const { id, key, get, download } = await requestReport();
      await generateReport(id);
      for (const path of [`${root}/no-such-report`, `${root}/no-such-report/download`]) {
        expectFailure(await api.call({ path, key }), { status: 404, code: '02' });
      }
      await ReportModel.updateOne({ _id: id }, { $set: { expiresAt: new Date(Date.now() - 1) } });
      expectFailure(await get(), { status: 404, code: '02' });
      expectFailure(await download(), { status: 404, code: '02' });
    });

    function operationOf(method: AnyOperation['method']): AnyOperation {
      const found = operations.find((each) => each.method === method && each.path === `${root}/:id`);
      if (!found) {
        throw new Error(`There is no ${method} of ${root}`);
      }
      return found;
    }
  });
}
