/** The result of one POST to a client's URL. */
import { lookUp } from '../../shared/collections.js';
import { Agent, request, type Dispatcher } from 'undici';
import { nowMs } from '../../shared/clock.js';
import { logOncePerMinute } from '../../shared/logger.js';
import { createProxyConnector, ProxyError, UnreachedError } from './proxy-tunnel.js';
import { BlockedAddressError, type UrlGuard } from './url-guard.js';
import { webhookLimits } from '../webhook-limits.js';

export type SendResult =
  | { kind: 'answered'; httpStatus: number; answer: Buffer; retryAfterMs: number | null }
  /**
   * No complete response in time. Timeouts hold resources, so they count towards the circuit
   * breaker.
   */
  | { kind: 'timeout'; httpStatus: number | null; error: string }
  | { kind: 'failed'; error: string }
  /** The address is not allowed; nothing was sent. */
  | { kind: 'blocked'; error: string }
  /** The proxy cannot reach the receiver; either may be at fault. */
  | { kind: 'unreached'; error: string }
  /** The service's own proxy is unavailable; the receiver never saw the request. */
  | { kind: 'unsent'; error: string };

export interface Sender {
  /** Sends one POST. Never throws: errors are results. */
  send(post: { url: string; headers: Record<string, string>; body: string }): Promise<SendResult>;
  /** Closes idle connections; requests in flight finish first. */
  close(): Promise<void>;
}

export interface SenderOptions {
  /** Limit from the first byte sent to the last byte received. */
  totalTimeoutMs?: number;
  /** Proxy URL, as WEBHOOK_PROXY_URL. */
  proxyUrl?: string | null;
}

export function createSender(guard: UrlGuard, options: SenderOptions = {}): Sender {
  const { totalTimeoutMs = webhookLimits.totalTimeoutMs, proxyUrl = null } = options;
  const agent = new Agent({
    connect:
      proxyUrl === null
        ? { lookup: guard.lookup, timeout: webhookLimits.connectTimeoutMs }
        : createProxyConnector(proxyUrl, guard.lookup),
    // The abort signal limits the total time; undici's own timeouts would not stop a body that
    // arrives slowly.
    headersTimeout: 0,
    bodyTimeout: 0,
    maxHeaderSize: webhookLimits.answerHeaderBytes,
    // Short, because a connection that the receiver closes during a write costs an attempt.
    keepAliveTimeout: 2_000,
    keepAliveMaxTimeout: 10_000,
    pipelining: 1,
  });
  return {
    send: async ({ url, headers, body }) => {
      const problem = guard.problemOf(url);
      if (problem !== null) {
        return { kind: 'blocked', error: `the URL ${problem.en}` };
      }
      return postRequest(agent, { url, headers, body, totalTimeoutMs });
    },
    close: () => agent.close(),
  };
}

async function postRequest(
  agent: Agent,
  message: { url: string; headers: Record<string, string>; body: string; totalTimeoutMs: number },
): Promise<SendResult> {
  const { url, headers, body, totalTimeoutMs } = message;
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort(), totalTimeoutMs);
  let httpStatus: number | null = null;
  try {
    // undici's request() follows no redirects and decompresses nothing.
    const response = await request(url, {
      method: 'POST',
      headers,
      body,
      dispatcher: agent,
      signal: abort.signal,
    });
    httpStatus = response.statusCode;
    const answer = await readStart(response.body);
    const retryAfterMs = parseRetryAfter(response.headers['retry-after']);
    return { kind: 'answered', httpStatus, answer, retryAfterMs };
  } catch (error) {
    if (error instanceof BlockedAddressError) {
      return { kind: 'blocked', error: error.message };
    }
    if (error instanceof UnreachedError) {
      return { kind: 'unreached', error: error.message };
    }
    if (error instanceof ProxyError) {
      logOncePerMinute('webhook proxy is unavailable', error.code, { error });
      return { kind: 'unsent', error: 'not sent: our own network is unavailable' };
    }
    if (abort.signal.aborted || getErrorCode(error) === 'UND_ERR_CONNECT_TIMEOUT') {
      return {
        kind: 'timeout',
        httpStatus,
        error: abort.signal.aborted ? describeTimeout(httpStatus, totalTimeoutMs) : connectTimeoutMessage,
      };
    }
    return { kind: 'failed', error: describeSendError(error) };
  } finally {
    clearTimeout(timer);
  }
}

/** Reads up to the limit; leaving the loop closes the connection. */
async function readStart(body: Dispatcher.ResponseData['body']): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes >= webhookLimits.answerReadBytes) {
      break;
    }
  }
  return Buffer.concat(chunks).subarray(0, webhookLimits.answerReadBytes);
}

const connectTimeoutMessage = `no connection within ${webhookLimits.connectTimeoutMs / 1_000} s`;

function describeTimeout(httpStatus: number | null, totalTimeoutMs: number): string {
  const what = httpStatus === null ? 'no response' : 'the response did not end';
  return `${what} within ${totalTimeoutMs / 1_000} s`;
}

/**
 * Parses seconds or a date.
 * @returns Milliseconds from now. Null if the value is invalid or in the past.
 */
function parseRetryAfter(value: string | string[] | undefined): number | null {
  if (typeof value !== 'string') {
    return null;
  }
  const ms = /^\d{1,9}$/.test(value) ? Number(value) * 1_000 : Date.parse(value) - nowMs();
  return Number.isFinite(ms) && ms > 0 ? ms : null;
}

const errorDescriptions: Record<string, string> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset',
  EHOSTUNREACH: 'host unreachable',
  ENETUNREACH: 'network unreachable',
  ENOTFOUND: 'host name not found',
  ENODATA: 'host name has no address',
  EAI_AGAIN: 'host name could not be resolved',
  ETIMEOUT: 'host name could not be resolved in time',
  EPROTO: 'TLS handshake failed',
  CERT_HAS_EXPIRED: 'TLS certificate has expired',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'TLS certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'TLS certificate chain is self-signed',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'TLS certificate chain is incomplete',
  ERR_TLS_CERT_ALTNAME_INVALID: 'TLS certificate is for another host name',
  UND_ERR_SOCKET: 'connection closed before a response',
  UND_ERR_HEADERS_OVERFLOW: 'response headers are too large',
};

/** Returns only the code if there is no description: library messages can contain addresses. */
function describeSendError(error: unknown): string {
  const code = getErrorCode(error);
  if (code?.startsWith('HPE_')) {
    return 'the response is not HTTP';
  }
  return code === null ? 'request failed' : (lookUp(errorDescriptions, code) ?? `request failed (${code})`);
}

function getErrorCode(error: unknown): string | null {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null;
}
