import { createHmac, timingSafeEqual } from 'node:crypto';
import { env } from '../../config/env.js';
import { nowMs } from '../shared/clock.js';
import { UnauthorizedError } from '../shared/errors.js';

const key = createHmac('sha256', Buffer.from(env.ENCRYPTION_KEY, 'base64'))
  .update('report download')
  .digest();

/** Signs a link to one report's file, so that a browser can fetch it without an API key until it expires. */
export function downloadToken(reportId: string, expiresAt: Date): string {
  const until = Math.floor(expiresAt.getTime() / 1_000);
  return `${until}-${signature(reportId, until)}`;
}

/** @throws UnauthorizedError (401/07) for a token that is wrong, of another report, or too old. */
export function checkDownloadToken(reportId: string, token: string): void {
  const match = /^(\d{1,12})-([0-9a-f]{64})$/.exec(token);
  const until = Number(match?.[1]);
  const given = Buffer.from(match?.[2] ?? '', 'hex');
  const wanted = Buffer.from(signature(reportId, until), 'hex');
  if (!match || !timingSafeEqual(given, wanted) || until * 1_000 <= nowMs()) {
    throw new UnauthorizedError('This download link is not valid any more. Ask for the report again.');
  }
}

function signature(reportId: string, until: number): string {
  return createHmac('sha256', key).update(`${reportId}|${until}`).digest('hex');
}
