import { createHmac } from 'node:crypto';
import { type Account, AccountModel } from '../accounts/account.model.js';
import { isSameSecret, keyring, sealingKey } from '../shared/encryption.js';
import { nowMs, now } from '../shared/clock.js';
import { UnauthorizedError } from '../shared/errors.js';
import { say } from '../shared/say.js';
import { type Report, ReportModel } from './report.model.js';
import { recordAudit, type ChangedBy } from '../audit/record-audit.js';
import { inTransaction } from '../database/mongo.js';
import { writeAndInvalidate } from '../redis/publish-changes.js';
import { buildReportNotFoundError } from './request-report.js';

/** What a link is bound to: the report, and how often its links and those of its account were revoked. */
export interface LinkSubject {
  report: Pick<Report, '_id' | 'linkEpoch'>;
  account: Pick<Account, 'linkEpoch'>;
}

/** Signs a link to one report's file, so that a browser can fetch it without an API key until it expires. */
export function createDownloadToken(of: LinkSubject, expiresAt: Date): string {
  const until = Math.floor(expiresAt.getTime() / 1_000);
  return `${until}-${signLink(of, until, sealingKey().key)}`;
}

/** @throws UnauthorizedError (401/07) for a token that is wrong, of another report, revoked or too old. */
export function verifyDownloadToken(of: LinkSubject, token: string): void {
  const match = /^(\d{1,12})-([0-9a-f]{64})$/.exec(token);
  const until = Number(match?.[1]);
  const given = match?.[2] ?? '';
  // One of an earlier key is good for as long as that key is kept.
  const isOurs = ({ key }: { key: Buffer }) => isSameSecret(given, signLink(of, until, key));
  if (!match || !keyring().map(isOurs).includes(true) || until * 1_000 <= nowMs()) {
    throw new UnauthorizedError(say('downloadLinkOver'), 'invalid_token');
  }
}

function signLink({ report, account }: LinkSubject, until: number, sealing: Buffer): string {
  const key = createHmac('sha256', sealing).update('report download').digest();
  const epochs = [report.linkEpoch ?? 0, account.linkEpoch ?? 0];
  return createHmac('sha256', key)
    .update([report._id, until, ...epochs].join('|'))
    .digest('hex');
}

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
