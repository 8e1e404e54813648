import http, { type IncomingHttpHeaders } from 'node:http';
import https from 'node:https';
import { buffer } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';

export interface SendOptions {
  /** Of one attempt. */
  timeoutMs: number;
  attemptsMax: number;
  /** The longest wait between two attempts, whatever the service asks for. */
  waitMaxMs: number;
  /** Ends the call under way, whose outcome is not known then, and sends nothing more. */
  signal?: AbortSignal;
}

export const usual: SendOptions = { timeoutMs: 20_000, attemptsMax: 6, waitMaxMs: 60_000 };

export interface Outgoing {
  method: string;
  headers?: Record<string, string>;
  body?: string;
}

/** A body of JSON that says its `status`. */
export type Answer = { status: unknown } & Record<string, unknown>;

export interface Sent {
  status: number;
  body: Answer;
  /**
   * Why an attempt before had no answer, null where each had one. That attempt may have been done, whatever this answer refuses:
   * a refusal is believed only where this is null.
   */
  lostBefore: unknown;
}

type IsAnswer = (httpStatus: number, body: Answer) => boolean;

interface Expected {
  isAnswer: IsAnswer;
  /** A success may be a file, whose bytes stand as its `data` then. */
  maybeFile?: boolean;
}

/**
 * Sends a request until it is answered. 429 and 503 made nothing, so they are repeated whatever was sent; no answer, an answer
 * that is not the service's own, and one that leaves the outcome open, only what may be done twice.
 * @param options.isRepeatable Whether the same request again does the same once: reads, and what carries a ref_id.
 * @param options.isAnswer Whether the service itself answers so on this surface.
 * @returns the last answer, or the last reason why there was none.
 * @throws the reason of `options.signal` where it was given before anything was sent.
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

/** What ends one attempt without its answer. */
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
        ? maybeFile && status === 200 // 206 is a part of one.
          ? { status: 'success', data: bytes }
          : null
        : parsed(bytes.toString());
    // Of a proxy, whatever HTTP status it has, or a fault of the service itself: whether it was done is not known.
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
 * The whole answer within the time, or an error. Not by `fetch`: it takes the beginning of an answer for all of it where the connection
 * closes, and forgets a limit of time when Node collects memory.
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
      reject(new DOMException(`Not within ${timeoutMs} ms`, 'TimeoutError'));
      request.destroy();
    }, timeoutMs);
    request.on('error', reject).on('close', () => {
      clearTimeout(timer);
    });
    request.end(body);
  });
}

/**
 * A refusal of the service has one of its codes and a reason. What calls itself an error without them is of somebody in between, who
 * may have sent the call on.
 */
export function isServiceRefusal({ status, code, reason }: Answer): boolean {
  return status === 'error' && typeof code === 'string' && /^\d\d$/.test(code) && typeof reason === 'string';
}

/** Its database or queue went away, maybe after it had written what was asked for. */
function leavesOpen({ reason }: Answer): boolean {
  return reason === 'service_unavailable';
}

/** The service sends its files as attachments; the page of a proxy is none. */
function isAttached(headers: IncomingHttpHeaders): boolean {
  return /^attachment\b/i.test(headers['content-disposition'] ?? '');
}

/** The answer, or null for what is not one of the service. */
function parsed(text: string): Answer | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && 'status' in value ? { ...value } : null;
  } catch {
    return null;
  }
}
