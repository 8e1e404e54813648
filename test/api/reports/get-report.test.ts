import { expect } from 'chai';
import { env } from '../../../config/env.js';
import { operations } from '../../../src/api/operations.js';
import type { AnyOperation } from '../../../src/api/operation.js';
import { generateReport } from '../../../src/reports/generate-report.js';
import { ReportModel } from '../../../src/reports/report.model.js';
import { PurchaseModel } from '../../../src/purchases/purchase.model.js';
import { someTransaction } from '../../webhooks/support/accounts.js';
import { useApi } from '../support/api.js';
import { expectFailure, expectSuccess } from '../support/expect-answer.js';

for (const role of ['buyer', 'seller'] as const) {
  const root = `/api/${role}/reports`;

  describe(`GET ${root}/{id}, and its download`, () => {
    const api = useApi();
    const waitMs = env.REPORT_SYNC_WAIT_MS;
    before(() => {
      // No worker runs here: the tests make the reports when it is time.
      env.REPORT_SYNC_WAIT_MS = 1;
    });
    after(() => {
      env.REPORT_SYNC_WAIT_MS = waitMs;
    });

    /** An account with one transaction that asked for a report. */
    async function asked(format: 'json' | 'csv' = 'json') {
      const { key, account } = await api.newAccount(role);
      const owner = role === 'buyer' ? { accountId: account._id } : { sellerId: account._id };
      const transaction = someTransaction({ ...owner, commissionAmount: 210 });
      await PurchaseModel.create([transaction]);
      const first = await api.call({ path: root, key, body: { type: 'transaction', format } });
      const id = String(first.body.data.report_id);
      const get = () => api.call({ path: `${root}/${id}`, key });
      const download = () => api.call({ path: `${root}/${id}/download`, key });
      return { first, id, transaction, get, download, key };
    }

    it('while it is made: 202/05, and no file: 404/02', async () => {
      const { first, id, get, download } = await asked();
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
    });

    it('when it is made: 200/00 with its summary and items, and the whole file', async () => {
      const { id, transaction, get, download } = await asked();
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

    it('as csv: a link in the answer, a header row and one row in the file', async () => {
      const { id, transaction, get, download } = await asked('csv');
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

    it('an unknown one, and one whose 7 days are over: 404/02, with and without download', async () => {
      const { id, key, get, download } = await asked();
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
