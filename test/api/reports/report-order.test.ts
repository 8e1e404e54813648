/** The order of many reports of one account, and reports that fail permanently. */
import { expect } from 'chai';
import mongoose from 'mongoose';
import { env } from '../../../config/env.js';
import { openQueue } from '../../../src/jobs/queues.js';
import { generateReport, giveUpReport } from '../../../src/reports/generate-report.js';
import { generateReportJob, promoteLongestWaiting, takeTurn } from '../../../src/reports/report-queue.js';
import { ReportModel, type Report } from '../../../src/reports/report.model.js';
import { endReports } from '../../../src/reports/end-reports.js';
import type { Account } from '../../../src/accounts/account.model.js';
import { countAttention } from '../../../src/doctor/attention.js';
import { DependencyError } from '../../../src/shared/errors.js';
import { useApi } from '../support/api.js';
import { expectFailure } from '../support/expect-answer.js';
import { useSettings } from '../../support/use-settings.js';

const path = '/api/buyer/reports';

describe('many reports of one account', () => {
  const api = useApi();
  // No worker runs here: the tests generate the reports.
  useSettings({ REPORT_SYNC_WAIT_MS: 1 });
  const { REPORTS_PER_DAY: perDay } = env;
  afterEach(() => {
    env.REPORTS_PER_DAY = perDay;
  });

  const ask = (key: string) => api.call({ path, key, body: { type: 'transaction' } });
  async function requestReports(key: string, count: number): Promise<string[]> {
    const ids: string[] = [];
    for (let n = 0; n < count; n++) {
      ids.push(String((await ask(key)).body.data.report_id));
    }
    return ids;
  }
  const stored = (id: string) => ReportModel.findById(id).orFail().lean<Report>();
  async function listQueuedReports(ids: string[]): Promise<string[]> {
    const jobs = await openQueue(generateReportJob.queue).getJobs(['wait', 'prioritized']);
    const waiting = new Set(jobs.map((job) => (job.data as { reportId: string }).reportId));
    return ids.filter((id) => waiting.has(id));
  }

  it('queues two at a time in order, so that other accounts get their turn', async () => {
    const { key } = await api.newBuyer();
    const ids = await requestReports(key, 5);
    expect(await listQueuedReports(ids)).to.deep.equal(ids.slice(0, 2));
    const other = await requestReports((await api.newBuyer()).key, 1);
    expect(await listQueuedReports(other)).to.deep.equal(other);
    // If the job runs before it is the report's turn, it does nothing.
    await generateReport(ids[4] ?? '');
    expect(await stored(ids[4] ?? '')).to.include({ status: 'pending', epoch: 0 });
    for (const [index, id] of ids.entries()) {
      await generateReport(id);
      expect(await stored(id)).to.include({ status: 'completed', turn: null });
      expect(await listQueuedReports(ids)).to.include.members(ids.slice(index + 1, index + 3));
      expect(await listQueuedReports(ids.slice(index + 3))).to.deep.equal([]);
    }
  });

  it('gives at most two turns under concurrency', async () => {
    const { key, account } = await api.newBuyer();
    await requestReports(key, 6);
    await ReportModel.updateMany({ accountId: account._id }, { $set: { turn: null } });
    const all = await ReportModel.find({ accountId: account._id }).lean<Report[]>();
    const given = await Promise.all(all.map(takeTurn));
    expect(given.filter(Boolean)).to.have.length(2);
  });

  it('queues long reports behind short ones, one per account, without starvation', async () => {
    const { key } = await api.newBuyer();
    const year = { type: 'transaction', start_date: '2025-01-01', end_date: '2025-12-31' };
    const askLong = async () => String((await api.call({ path, key, body: year })).body.data.report_id);
    const [first, second] = [await askLong(), await askLong()];
    const [short = ''] = await requestReports(key, 1);
    expect(await listQueuedReports([first, second, short])).to.have.members([first, short]);
    const queue = openQueue(generateReportJob.queue);
    const inState = async (state: 'wait' | 'prioritized') =>
      (await queue.getJobs([state])).map((job) => (job.data as { reportId: string }).reportId);
    expect(await inState('prioritized'))
      .to.include(first)
      .and.not.include(short);
    await generateReport(short);
    expect(await listQueuedReports([second]), 'long report in the turn for short ones').to.deep.equal([]);
    await promoteLongestWaiting();
    expect(await inState('prioritized'), 'low-priority jobs before the wait is over').to.include(first);
    await ReportModel.updateOne({ _id: first }, { $set: { createdAt: new Date(Date.now() - 61_000) } });
    await promoteLongestWaiting();
    const waiting = await queue.getJobs(['wait'], 0, -1, true);
    expect((waiting[0]?.data as { reportId: string }).reportId, 'next job of the queue').to.equal(first);
    await generateReport(first);
    expect(await listQueuedReports([second])).to.deep.equal([second]);
  });

  it('reports ended by an erasure release their turns at once', async () => {
    const { key, account } = await api.newBuyer();
    await requestReports(key, 2);
    const deposits = await api.call({ path, key, body: { type: 'deposit' } });
    const id = String(deposits.body.data.report_id);
    expect(await listQueuedReports([id])).to.deep.equal([]);
    expect(await endReports([account._id])).to.equal(2);
    expect(await listQueuedReports([id])).to.deep.equal([id]);
  });

  it('a repeated job of a completed report queues the next one', async () => {
    const { key } = await api.newBuyer();
    const [first = '', second = '', third = ''] = await requestReports(key, 3);
    // Create the state after a lost reply: the file is stored, and the worker died before it got
    // the confirmation.
    await ReportModel.updateOne(
      { _id: first },
      { $set: { status: 'completed', nextActionAt: null, turn: null } },
    );
    expect(await listQueuedReports([second, third])).to.deep.equal([second]);
    await generateReport(first);
    expect(await listQueuedReports([second, third])).to.deep.equal([second, third]);
  });

  it('above REPORTS_PER_DAY: returns 429/06 with Retry-After and creates no report', async () => {
    env.REPORTS_PER_DAY = 2;
    const { key, account } = await api.newBuyer();
    await requestReports(key, 2);
    const answer = await ask(key);
    expectFailure(answer, { status: 429, code: '06', retryAfterMaxS: 86_400 });
    expect(answer.body.message).to.contain('More than 2 reports in a day');
    expect(Number(answer.headers['retry-after'])).to.be.within(86_000, 86_400);
    expect(await ReportModel.countDocuments({ accountId: account._id })).to.equal(2);
  });

  it('a report that MongoDB did not store does not count towards the daily limit', async () => {
    env.REPORTS_PER_DAY = 1;
    const { key } = await api.newBuyer();
    const create = ReportModel.create.bind(ReportModel);
    Object.assign(ReportModel, { create: () => Promise.reject(new DependencyError(new Error('away'))) });
    try {
      expectFailure(await ask(key), { status: 503, code: '03', retryAfterMaxS: 60 });
    } finally {
      Object.assign(ReportModel, { create });
    }
    expect((await ask(key)).status).to.equal(202);
    expectFailure(await ask(key), { status: 429, code: '06', retryAfterMaxS: 86_400 });
  });

  it('an abandoned report fails, is counted for the operator and releases its turn', async () => {
    const { key, account } = await api.newBuyer();
    const [first = '', second = '', third = ''] = await requestReports(key, 3);
    const given = await countAttention();
    const accounts = mongoose.connection.collection<Account>('accounts');
    await accounts.deleteOne({ _id: account._id });
    const failure = await generateReport(first).catch((error: unknown) => error);
    expect(failure).to.be.an('error');
    // The same happens after the job's last attempt (test/jobs/poisoned.long.test.ts).
    expect(await giveUpReport({ reportId: first }, 'it failed')).to.equal(true);
    expect(await stored(first)).to.include({ status: 'failed', nextActionAt: null, turn: null });
    expect(await listQueuedReports([second, third])).to.deep.equal([second, third]);
    expect((await countAttention()).failedReports).to.equal(given.failedReports + 1);
    await accounts.insertOne(account);
    const answer = await api.call({ path: `${path}/${first}`, key });
    expectFailure(answer, { status: 409, code: '01' });
    expect(answer.body.message).to.contain(first);
    await generateReport(first);
    expect((await stored(first)).status).to.equal('failed');
  });
});
