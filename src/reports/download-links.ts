import { createHmac } from 'node:crypto';
import { type Account, AccountModel } from '../accounts/account.model.js';
import { getKeyring, getSealingKey } from '../shared/encryption.js';
import { isSameSecret } from '../shared/is-same-secret.js';
import { nowMs, now } from '../shared/clock.js';
import { UnauthorizedError } from '../shared/errors.js';
import { say } from '../shared/say.js';
import { type Report, ReportModel } from './report.model.js';
import { recordAudit, type ChangedBy } from '../audit/record-audit.js';
import { runInTransaction } from '../database/mongo.js';
import { writeAndInvalidate } from '../redis/publish-changes.js';
import { buildReportNotFoundError } from './request-report.js';

/** The inputs of a link's signature: the report, its revocation counter and that of its account. */
export interface LinkSubject {
  report: Pick<Report, '_id' | 'linkEpoch'>;
  account: Pick<Account, 'linkEpoch'>;
}

/**
 * Creates the signed token of a download link for one report. Until it expires, the link works
 * without an API key.
 */
export function createDownloadToken(of: LinkSubject, expiresAt: Date): string {
  const until = Math.floor(expiresAt.getTime() / 1_000);
  return `${until}-${signLink(of, until, getSealingKey().key)}`;
}

/**
 * Verifies the token of a download link.
 * @throws UnauthorizedError (401/07) if the token is invalid, revoked, expired or for another
 * report.
 */
export function verifyDownloadToken(of: LinkSubject, token: string): void {
  const match = /^(\d{1,12})-([0-9a-f]{64})$/.exec(token);
  const until = Number(match?.[1]);
  const signature = match?.[2] ?? '';
  // A token signed with an earlier key stays valid while that key is in the keyring.
  const isOurs = ({ key }: { key: Buffer }) => isSameSecret(signature, signLink(of, until, key));
  if (!match || !getKeyring().map(isOurs).includes(true) || until * 1_000 <= nowMs()) {
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
 * Revokes all download links of one report. The report remains, and reading it returns a new link.
 * A second call also revokes links created since the first call.
 * @throws NotFoundError (404/02) if the account has no such report, or if it has expired.
 */
export async function revokeReportLinks(accountId: string, reportId: string, by: ChangedBy): Promise<void> {
  await runInTransaction(async (session) => {
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

/** Revokes all download links of all reports of an account. */
export async function revokeAccountLinks(accountId: string, by: ChangedBy): Promise<void> {
  await writeAndInvalidate([AccountModel], [accountId], (accounts) =>
    runInTransaction(async (session) => {
      await accounts.updateOne({ _id: accountId }, { $inc: { linkEpoch: 1 } }, { session });
      const subject = { kind: 'account' as const, id: accountId };
      await recordAudit(session, { ...by, action: 'account.revoke-links', subject });
    }),
  );
}
