/** Several attempts to generate one report in this process, with the real database and Redis. */
import { expect } from 'chai';
import mongoose from 'mongoose';
import { now, nowMs } from '../../../src/shared/clock.js';
import { newId } from '../../../src/shared/ids.js';
import { openQueue } from '../../../src/jobs/queues.js';
import { generateReport } from '../../../src/reports/generate-report.js';
import { readReportItems } from '../../../src/reports/report-file.js';
import { ReportModel, type Report } from '../../../src/reports/report.model.js';
import { generateReportJob, takeTurn, reportOutbox } from '../../../src/reports/report-queue.js';
import { removeExpiredReports } from '../../../src/reports/end-reports.js';
import { sweepOutbox } from '../../../src/jobs/outbox.js';
import { PurchaseModel } from '../../../src/purchases/purchase.model.js';
import { DepositModel } from '../../../src/deposits/deposit.model.js';
import { useApi } from '../support/api.js';
import { someTransaction } from '../../webhooks/support/accounts.js';

describe('attempts at a report', () => {
  const api = useApi();

  async function newReport(over: Partial<Report>): Promise<Report> {
    const report: Report = {
      _id: newId(),
      accountId: newId(),
      role: 'buyer',
      type: 'transaction',
      format: 'json',
      period: { start: new Date(nowMs() - 86_400_000), end: new Date(nowMs() + 60_000) },
      status: 'pending',
      summary: null,
      rows: null,
      size: null,
      filename: 'report.json',
      epoch: 0,
      turn: null,
      nextActionAt: now(),
      createdAt: now(),
      expiresAt: new Date(nowMs() + 86_400_000),
      ...over,
    };
    await ReportModel.create(report);
    return report;
  }
  const stored = (id: string) => ReportModel.findById(id).orFail().lean<Report>();
  const filesOf = async (name: 'files' | 'chunks', id: string) => {
    const field = name === 'files' ? '_id' : 'files_id';
    const found = await mongoose.connection
      .collection(`reportFiles.${name}`)
      .find({ [field]: { $regex: `^${id}-` } } as never)
      .toArray();
    return [...new Set(found.map((each) => String(each[field])))];
  };

  it('write each of many transactions with equal times once, across pages', async () => {
    const { account } = await api.newBuyer();
    const createdAt = now();
    const rows = Array.from({ length: 2_500 }, () => someTransaction({ accountId: account._id, createdAt }));
    await PurchaseModel.insertMany(rows);
    const report = await newReport({ accountId: account._id });
    await generateReport(report._id);
    const items = (await readReportItems(await stored(report._id), 10_000)) as { transaction_id: string }[];
    expect(items.map((each) => each.transaction_id).sort()).to.deep.equal(rows.map(({ _id }) => _id).sort());
  });

  it('write each of many deposits with equal times once', async () => {
    const { account } = await api.newBuyer();
    const deposit = { accountId: account._id, amount: 1, balanceBefore: 0, balanceAfter: 1 };
    const createdAt = now();
    const rows = Array.from({ length: 1_000 }, (_, n) => ({
      ...deposit,
      _id: newId(),
      refId: `d-${n}`,
      status: 'completed' as const,
      createdAt,
      completedAt: createdAt,
    }));
    await DepositModel.insertMany(rows);
    const report = await newReport({ accountId: account._id, type: 'deposit' });
    await generateReport(report._id);
    expect(await stored(report._id)).to.deep.include({ rows: 1_000, status: 'completed' });
  });

  it('two concurrent attempts leave only the file of the last claim', async () => {
    const { account } = await api.newBuyer();
    await PurchaseModel.insertMany(
      Array.from({ length: 3_000 }, () => someTransaction({ accountId: account._id })),
    );
    const report = await newReport({ accountId: account._id, turn: 0 });
    await Promise.all([generateReport(report._id), generateReport(report._id)]);
    expect(await stored(report._id)).to.include({ status: 'completed', epoch: 2, rows: 3_000 });
    expect(await filesOf('files', report._id)).to.deep.equal([`${report._id}-2`]);
    expect(await filesOf('chunks', report._id)).to.deep.equal([`${report._id}-2`]);
  });

  it('a failed attempt leaves no file, and the next is due within a minute', async () => {
    // The report's account does not exist, so every attempt fails.
    const report = await newReport({});
    let failure: unknown;
    await generateReport(report._id).catch((error: unknown) => (failure = error));
    expect(failure).to.be.an('error');
    const { status, nextActionAt } = await stored(report._id);
    expect(status).to.equal('processing');
    expect(nextActionAt?.getTime()).to.be.within(nowMs(), nowMs() + 60_000);
    expect(await filesOf('chunks', report._id)).to.deep.equal([]);
  });

  it('a report that holds a turn but lost its job is due within 30 seconds', async () => {
    const dueInMs = async (id: string) => ((await stored(id)).nextActionAt?.getTime() ?? 0) - nowMs();
    const accountId = newId();
    const calm = new Date(nowMs() + 600_000);
    const [first, second, third] = [
      await newReport({ accountId, nextActionAt: calm }),
      await newReport({ accountId, nextActionAt: calm }),
      await newReport({ accountId, nextActionAt: calm }),
    ];
    expect([await takeTurn(first), await takeTurn(second), await takeTurn(third)]).to.deep.equal([
      true,
      true,
      false,
    ]);
    expect(await dueInMs(first._id)).to.be.within(1, 30_000);
    expect(await dueInMs(third._id)).to.be.above(500_000);
    await ReportModel.updateMany({ accountId }, { $set: { nextActionAt: new Date(0) } });
    await sweepOutbox(reportOutbox);
    expect(await dueInMs(first._id), 'due again if its job is lost too').to.be.within(1, 30_000);
    expect(await dueInMs(third._id)).to.be.above(500_000);
    await ReportModel.deleteMany({ accountId });
  });

  it('a report whose second job was lost gets another job', async () => {
    const report = await newReport({ nextActionAt: new Date(0) });
    const jobsOf = async () => {
      const jobs = await openQueue(generateReportJob.queue).getJobs(['wait', 'completed', 'failed']);
      return jobs.filter((job) => (job.data as { reportId: string }).reportId === report._id);
    };
    const sweepWhenOverdue = async () => {
      await ReportModel.updateOne({ _id: report._id }, { $set: { nextActionAt: new Date(0) } });
      await sweepOutbox(reportOutbox);
    };
    await sweepOutbox(reportOutbox);
    const [first] = await jobsOf();
    await sweepWhenOverdue();
    expect(await jobsOf(), 'jobs while the first one waits').to.have.length(1);
    await first?.remove();
    await sweepWhenOverdue();
    const found = await jobsOf();
    expect(found).to.have.length(1);
    expect(found[0]?.id).not.to.equal(first?.id);
  });

  it('an expired report is removed with the files of every attempt', async () => {
    const { account } = await api.newBuyer();
    const report = await newReport({ accountId: account._id });
    await generateReport(report._id);
    const leftOver = { files_id: `${report._id}-2`, n: 0, data: Buffer.alloc(1) };
    await mongoose.connection.collection('reportFiles.chunks').insertOne(leftOver);
    await ReportModel.updateOne(
      { _id: report._id },
      { $set: { expiresAt: new Date(0) }, $inc: { epoch: 2 } },
    );
    await removeExpiredReports();
    expect(await ReportModel.findById(report._id)).to.equal(null);
    expect(await filesOf('files', report._id)).to.deep.equal([]);
    expect(await filesOf('chunks', report._id)).to.deep.equal([]);
  });
});
