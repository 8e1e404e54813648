import { AccountModel } from '../accounts/account.model.js';
import { recordAudit, type ChangedBy } from '../audit/record-audit.js';
import { inTransaction } from '../database/mongo.js';
import { writeAndInvalidate } from '../redis/changing.js';
import { now } from '../shared/clock.js';
import { ReportModel, type Report } from './report.model.js';
import { buildReportNotFoundError } from './request-report.js';

/**
 * Ends every download link of one report that was handed out so far; the report itself stays, and asking for it gives a
 * new link. A second call only ends those that were made meanwhile.
 * @throws NotFoundError (404/02), also for another account's report and one whose 7 days are over.
 */
export async function revokeReportLinks(accountId: string, reportId: string, by: ChangedBy): Promise<void> {
  await inTransaction(async (session) => {
    const report = await ReportModel.findOneAndUpdate(
      { _id: reportId, accountId, expiresAt: { $gt: now() } },
      { $inc: { linkEpoch: 1 } },
      { session },
    ).lean<Report>();
    if (!report) {
      throw buildReportNotFoundError(reportId);
    }
    const subject = { kind: 'report' as const, id: reportId };
    await recordAudit(session, { ...by, action: 'report.revoke-links', subject, after: { accountId } });
  });
}

/** Ends every download link of all reports of an account. */
export async function revokeAccountLinks(accountId: string, by: ChangedBy): Promise<void> {
  await writeAndInvalidate([AccountModel], [accountId], (accounts) =>
    inTransaction(async (session) => {
      await accounts.updateOne({ _id: accountId }, { $inc: { linkEpoch: 1 } }, { session });
      const subject = { kind: 'account' as const, id: accountId };
      await recordAudit(session, { ...by, action: 'account.revoke-links', subject });
    }),
  );
}
