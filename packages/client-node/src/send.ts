import http, { type IncomingHttpHeaders } from 'node:http';
import https from 'node:https';
import { buffer } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';

export interface SendOptions {
  /** Time limit of one attempt, in milliseconds. */
  timeoutMs: number;
  attemptsMax: number;
  /**
   * The longest wait between two attempts, in milliseconds. It also limits the wait that the
   * service requests.
   */
  waitMaxMs: number;
  /**
   * Aborts the current call and prevents all further attempts. The outcome of an aborted call is
   * unknown.
   */
  signal?: AbortSignal;
}

export const defaultOptions: SendOptions = { timeoutMs: 20_000, attemptsMax: 6, waitMaxMs: 60_000 };

export interface OutgoingRequest {
  method: string;
  headers?: Record<string, string>;
  body?: string;
}

/** A response body: a JSON object with a `status`. */
export type ResponseBody = { status: unknown } & Record<string, unknown>;

export interface ServiceResponse {
  status: number;
  body: ResponseBody;
  /**
   * Why an earlier attempt got no conclusive response. Null if no attempt was lost. A lost attempt
   * may have taken effect, so a refusal is conclusive only if this is null.
   */
  lostBefore: unknown;
}

type IsServiceResponse = (httpStatus: number, body: ResponseBody) => boolean;

interface ResponseExpectation {
  isAnswer: IsServiceResponse;
  /** True if a successful response may be a file. Its bytes then become the `data`. */
  maybeFile?: boolean;
}

/**
 * Sends a request and retries it until there is a conclusive response. A refusal by the service
 * with status 429 or 503 means that the request had no effect, so every request is retried. If
 * there is no response from the service, or the outcome is unknown, only repeatable requests are
 * retried.
 *
 * @param options.isRepeatable True if repeating the request has no additional effect. This applies
 * to reads and to calls with a ref_id.
 * @param options.isAnswer Returns true if a response comes from this API of the service.
 *
 * @returns the last response, or the reason why the last attempt was lost.
 * @throws the reason of `options.signal` if it was aborted before anything was sent.
 */
export async function send(
  url: string,
  outgoing: OutgoingRequest,
  {
    isRepeatable,
    isAnswer,
    maybeFile = false,
    signal,
    ...options
  }: SendOptions & ResponseExpectation & { isRepeatable: boolean },
): Promise<{ answer: ServiceResponse } | { lost: unknown }> {
  signal?.throwIfAborted();
  let result: { answer: ServiceResponse } | { lost: unknown } = { lost: new Error('attemptsMax is 0') };
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

/** The conditions that end an attempt. */
interface AttemptLimits {
  timeoutMs: number;
  signal: AbortSignal | undefined;
}

async function sendOnce(
  url: string,
  outgoing: OutgoingRequest,
  { isAnswer, maybeFile, ...ends }: Required<ResponseExpectation> & AttemptLimits,
): Promise<
  ({ answer: Omit<ServiceResponse, 'lostBefore'> } | { lost: unknown }) & { retryAfterMs: number | null }
> {
  try {
    const { status, headers, bytes } = await exchange(url, outgoing, ends);
    const after = headers['retry-after'] ?? '';
    const retryAfterMs = /^\d{1,6}$/.test(after) ? Number(after) * 1_000 : null;
    const body =
      status < 300 && isFileAttachment(headers)
        ? maybeFile && status === 200 // 206 is a partial file.
          ? { status: 'success', data: bytes }
          : null
        : parseResponseBody(bytes.toString());
    // The response comes from a proxy, or reports an internal error of the service. In both cases
    // the outcome is unknown.
    return body === null ||
      (status >= 300 && status < 400) ||
      (status >= 500 && status !== 503) ||
      !isAnswer(status, body) ||
      leavesOutcomeUnknown(body)
      ? { lost: new Error(`HTTP ${status}: ${bytes.toString('utf8', 0, 200)}`), retryAfterMs }
      : { answer: { status, body }, retryAfterMs };
  } catch (error) {
    return { lost: error, retryAfterMs: null };
  }
}

/**
 * Resolves to the complete response, or rejects after the time limit. `fetch` is not used for two
 * reasons. It accepts a truncated response as complete if the connection is closed, and its
 * timeouts may be lost to garbage collection.
 */
function exchange(
  url: string,
  { body, ...options }: OutgoingRequest,
  { timeoutMs, signal }: AttemptLimits,
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
 * True if the service has refused the call. Such a response contains a code of the service and a
 * reason. Other errors come from a proxy, which may have forwarded the call.
 */
export function isServiceRefusal({ status, code, reason }: ResponseBody): boolean {
  return status === 'error' && typeof code === 'string' && /^\d\d$/.test(code) && typeof reason === 'string';
}

/**
 * True if the service lost its database or its queue. This may have happened after the write, so
 * the outcome is unknown.
 */
function leavesOutcomeUnknown({ reason }: ResponseBody): boolean {
  return reason === 'service_unavailable';
}

/**
 * True if the response is a file. The service sends files as attachments, and error pages of
 * proxies are not attachments.
 */
function isFileAttachment(headers: IncomingHttpHeaders): boolean {
  return /^attachment\b/i.test(headers['content-disposition'] ?? '');
}

/** Parses a response body. Returns null if it is not a JSON object with a `status`. */
function parseResponseBody(text: string): ResponseBody | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && 'status' in value ? { ...value } : null;
  } catch {
    return null;
  }
}
