import http, { type IncomingHttpHeaders } from 'node:http';
import https from 'node:https';
import { buffer } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';

export interface SendOptions {
  /** Time limit of one attempt. */
  timeoutMs: number;
  attemptsMax: number;
  /** The longest wait between two attempts, even if the service requests a longer one. */
  waitMaxMs: number;
  /** Aborts the current call, whose outcome is then unknown, and sends nothing more. */
  signal?: AbortSignal;
}

export const usual: SendOptions = { timeoutMs: 20_000, attemptsMax: 6, waitMaxMs: 60_000 };

export interface Outgoing {
  method: string;
  headers?: Record<string, string>;
  body?: string;
}

/** A JSON body with a `status`. */
export type Answer = { status: unknown } & Record<string, unknown>;

export interface Sent {
  status: number;
  body: Answer;
  /**
   * Why an earlier attempt had no answer, or null. That attempt may have taken effect, so trust a
   * refusal only if this is null.
   */
  lostBefore: unknown;
}

type IsAnswer = (httpStatus: number, body: Answer) => boolean;

interface Expected {
  isAnswer: IsAnswer;
  /** True if a success may be a file. Its bytes are then the `data`. */
  maybeFile?: boolean;
}

/**
 * Sends a request until it is answered. After 429 and 503 every request is repeated, since it had
 * no effect. Without an answer of the service, or with an unknown outcome, only repeatable requests
 * are.
 *
 * @param options.isRepeatable True if a repeated request has no additional effect: reads, and calls
 * with a ref_id.
 * @param options.isAnswer True for an answer of the service on this surface.
 * @returns the last answer, or the last reason why there was none.
 * @throws the reason of `options.signal` if it was aborted before anything was sent.
 */
export async function send(
  url: string,
  outgoing: Outgoing,
  {
    isRepeatable,
    isAnswer,
    maybeFile = false,
    signal,
    ...options
  }: SendOptions & Expected & { isRepeatable: boolean },
): Promise<{ answer: Sent } | { lost: unknown }> {
  signal?.throwIfAborted();
  let result: { answer: Sent } | { lost: unknown } = { lost: new Error('attemptsMax is 0') };
  let lostBefore: unknown = null;
  for (let attempt = 1; attempt <= options.attemptsMax; attempt++) {
    const { retryAfterMs, ...found } = await sendOnce(url, outgoing, {
      isAnswer,
      maybeFile,
      timeoutMs: options.timeoutMs,
      signal,
    });
    if ('lost' in found) {
      lostBefore = found.lost;
      result = found;
    } else {
      result = { answer: { ...found.answer, lostBefore } };
    }
    const isRefusedForNow = 'answer' in found && [429, 503].includes(found.answer.status);
    if (!isRefusedForNow && ('answer' in found || !isRepeatable)) {
      break;
    }
    if (attempt < options.attemptsMax) {
      const waitMs = Math.min(retryAfterMs ?? 500 * 2 ** (attempt - 1), options.waitMaxMs);
      await wait(waitMs, undefined, { signal }).catch(() => undefined);
    }
    if (signal?.aborted === true) {
      break;
    }
  }
  return result;
}

/** The limits of one attempt. */
interface Ends {
  timeoutMs: number;
  signal: AbortSignal | undefined;
}

async function sendOnce(
  url: string,
  outgoing: Outgoing,
  { isAnswer, maybeFile, ...ends }: Required<Expected> & Ends,
): Promise<({ answer: Omit<Sent, 'lostBefore'> } | { lost: unknown }) & { retryAfterMs: number | null }> {
  try {
    const { status, headers, bytes } = await exchange(url, outgoing, ends);
    const after = headers['retry-after'] ?? '';
    const retryAfterMs = /^\d{1,6}$/.test(after) ? Number(after) * 1_000 : null;
    const body =
      status < 300 && isAttached(headers)
        ? maybeFile && status === 200 // 206 is a partial file.
          ? { status: 'success', data: bytes }
          : null
        : parseAnswer(bytes.toString());
    // An answer of a proxy, with any HTTP status, or an internal error of the service: the outcome
    // is unknown.
    return body === null ||
      (status >= 300 && status < 400) ||
      (status >= 500 && status !== 503) ||
      !isAnswer(status, body) ||
      leavesOpen(body)
      ? { lost: new Error(`HTTP ${status}: ${bytes.toString('utf8', 0, 200)}`), retryAfterMs }
      : { answer: { status, body }, retryAfterMs };
  } catch (error) {
    return { lost: error, retryAfterMs: null };
  }
}

/**
 * Resolves to the complete answer within the time limit. `fetch` is not used: it accepts a
 * truncated answer as complete when the connection closes, and its timeouts can be lost in garbage
 * collection.
 */
function exchange(
  url: string,
  { body, ...options }: Outgoing,
  { timeoutMs, signal }: Ends,
): Promise<{ status: number; headers: IncomingHttpHeaders; bytes: Buffer }> {
  return new Promise((resolve, reject) => {
    const target = new URL(url);
    const open = target.protocol === 'https:' ? https.request : http.request;
    const request = open(target, { ...options, signal }, (response) => {
      const { statusCode = 0, headers } = response;
      buffer(response).then((bytes) => {
        resolve({ status: statusCode, headers, bytes });
      }, reject);
    });
    const timer = setTimeout(() => {
      reject(new DOMException(`Timed out after ${timeoutMs} ms`, 'TimeoutError'));
      request.destroy();
    }, timeoutMs);
    request.on('error', reject).on('close', () => {
      clearTimeout(timer);
    });
    request.end(body);
  });
}

/**
 * A refusal of the service has one of its codes and a reason. Other errors come from a proxy, which
 * may have forwarded the call.
 */
export function isServiceRefusal({ status, code, reason }: Answer): boolean {
  return status === 'error' && typeof code === 'string' && /^\d\d$/.test(code) && typeof reason === 'string';
}

/** The service lost its database or queue, possibly after the write. */
function leavesOpen({ reason }: Answer): boolean {
  return reason === 'service_unavailable';
}

/** The service sends files as attachments; a page of a proxy is not one. */
function isAttached(headers: IncomingHttpHeaders): boolean {
  return /^attachment\b/i.test(headers['content-disposition'] ?? '');
}

/** Parses an answer. Null if it is not an answer of the service. */
function parseAnswer(text: string): Answer | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && 'status' in value ? { ...value } : null;
  } catch {
    return null;
  }
}
