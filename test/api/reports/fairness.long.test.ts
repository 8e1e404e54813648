/**
 * One buyer's single report is not delayed by another buyer's 290 reports. Uses the real processes.
 */
import { expect } from 'chai';
import type { Report } from '../../../src/reports/report.model.js';
import { apiClient } from '../../support/api-client.js';
import { eventually } from '../../support/eventually.js';
import { inParallel } from '../../support/purchases.js';
import { startStack, type Stack } from '../../support/stack.js';

const many = 290;
/**
 * Maximum number of reports generated before the single one: two turns of the other buyer, plus the
 * reports that were already in progress.
 */
const aheadMax = 6;

describe('290 reports of one buyer and one of another', function () {
  this.timeout(120_000);
  let stack: Stack;

  before(async () => {
    stack = await startStack({ env: { REPORT_SYNC_WAIT_MS: '1' } });
  });
  after(() => stack.stop());

  it("builds the other buyer's report while nearly all of the 290 wait", async () => {
    const { buyer, buyer2 } = await stack.seed();
    const reports = stack.db.collection<Report>('reports');
    const ask = async (key = '') => {
      const answer = await apiClient(stack.baseUrl, key).post('/api/buyer/reports', { type: 'transaction' });
      expect([200, 201, 202], JSON.stringify(answer.body)).to.include(answer.status);
      return answer.body.data.report_id as string;
    };
    const ids: string[] = [];
    await inParallel([...Array(many).keys()], 16, async () => {
      ids.push(await ask(buyer?.api_key));
    });
    const done = () => reports.countDocuments({ _id: { $in: ids }, status: 'completed' });
    const id = await ask(buyer2?.api_key);
    // All reports are queued now. If they ran in order of request, the single report would be the
    // last.
    await stack.startWorker('reports');
    const ahead = await eventually('the one report is completed', async () => {
      const { status } = (await reports.findOne({ _id: id })) ?? {};
      return status === 'completed' && { reports: await done() };
    });
    expect(ahead.reports, 'completed reports of the other buyer').to.be.at.most(aheadMax);
  });
});
