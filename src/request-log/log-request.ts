/**
 * Logs calls for their account. Rows are written in one batch per second, so that no call waits.
 * Limits per minute bound the number of rows of a busy account.
 */
import { env } from '../../config/env.js';
import { limits } from '../../config/limits.js';
import { nowMs } from '../shared/clock.js';
import { newId } from '../shared/ids.js';
import { logger } from '../shared/logger.js';
import { loggedRequests, type LoggedRequest } from './logged-request.model.js';

export type RequestToLog = Omit<LoggedRequest, '_id' | 'createdAt' | 'expiresAt'>;

const writeEveryMs = 1_000;
const hourMs = 3_600_000;
/**
 * Maximum number of rows that wait to be written. Further rows are dropped, for example while
 * MongoDB is unavailable.
 */
const waitingMax = 5_000;

let waiting: LoggedRequest[] = [];
let timer: NodeJS.Timeout | null = null;
let writing: Promise<void> = Promise.resolve();
let minute = 0;
/** Number of rows logged in this minute, by account and kind. */
let noted = new Map<string, number>();

/**
 * Keeps a call for REQUEST_LOG_HOURS.
 * @param call Builds the row. It is called only if the row is kept.
 */
export function logRequest(accountId: string, failed: boolean, call: () => RequestToLog): void {
  if (env.REQUEST_LOG_HOURS === 0 || waiting.length >= waitingMax || !isBelowLimit(accountId, failed)) {
    return;
  }
  const atMs = nowMs();
  const row = buildRequestToLog(call);
  if (!row) {
    return;
  }
  waiting.push({
    _id: newId(),
    ...row,
    createdAt: new Date(atMs),
    expiresAt: new Date(atMs + env.REQUEST_LOG_HOURS * hourMs),
  });
  timer ??= setTimeout(() => {
    void writeRequestLog();
  }, writeEveryMs).unref();
}

/**
 * The response has already been sent, so an input that cannot be logged must not end the process.
 */
function buildRequestToLog(call: () => RequestToLog): RequestToLog | null {
  try {
    return call();
  } catch (error) {
    logger.warn('a call was not written to the request log', { error });
    return null;
  }
}

/** Failures are counted separately, so that successes cannot displace them. */
function isBelowLimit(accountId: string, failed: boolean): boolean {
  const now = Math.floor(nowMs() / 60_000);
  if (now !== minute) {
    minute = now;
    noted = new Map();
  }
  const kind = `${accountId} ${failed ? 'failed' : 'done'}`;
  const count = noted.get(kind) ?? 0;
  noted.set(kind, count + 1);
  return count < (failed ? limits.loggedFailuresPerMinute : limits.loggedSuccessesPerMinute);
}

/** Writes the waiting rows. Never throws, because no decision depends on the log. */
export function writeRequestLog(): Promise<void> {
  writing = writing.then(async () => {
    if (timer) {
      clearTimeout(timer);
      timer = null;
    }
    const rows = waiting;
    waiting = [];
    if (rows.length === 0) {
      return;
    }
    try {
      await loggedRequests.insertMany(rows, { ordered: false });
    } catch (error) {
      logger.warn('calls were not written to the request log', { calls: rows.length, error });
    }
  });
  return writing;
}
