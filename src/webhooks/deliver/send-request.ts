/** The result of one POST to a client's URL. */
import { Agent, request, type Dispatcher } from 'undici';
import { nowMs } from '../../shared/clock.js';
import { logOncePerMinute } from '../../shared/logger.js';
import { connectSocket, connectTimeoutMs } from '../../shared/outgoing/connect-socket.js';
import { createConnector } from '../../shared/outgoing/create-connector.js';
import { describeErrorReason, getErrorReason } from '../../shared/outgoing/error-reasons.js';
import { resolveHost } from '../../shared/outgoing/resolve-host.js';
import { ConnectLateError, runExchange } from '../../shared/outgoing/run-exchange.js';
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
        ? createConnector(({ hostname, port }) =>
            connectSocket({
              port,
              lookups: resolveHost(hostname, guard.resolve),
              requireAllowed: guard.requireAllowed,
            }),
          )
        : createProxyConnector(proxyUrl, guard),
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
  let httpStatus: number | null = null;
  try {
    return await runExchange({ dispatcher: agent, timeoutMs: totalTimeoutMs }, async (bounds) => {
      // undici's request() follows no redirects and decompresses nothing.
      const response = await request(url, { ...bounds, method: 'POST', headers, body });
      httpStatus = response.statusCode;
      const answer = await readStart(response.body);
      const retryAfterMs = parseRetryAfter(response.headers['retry-after']);
      return { kind: 'answered', httpStatus, answer, retryAfterMs };
    });
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
    const timeout = describeTimeout(error, { httpStatus, totalTimeoutMs });
    return timeout === null
      ? { kind: 'failed', error: describeErrorReason(getErrorReason(error)) }
      : { kind: 'timeout', httpStatus, error: timeout };
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

/** Returns null if the error is not a timeout. */
function describeTimeout(
  error: unknown,
  { httpStatus, totalTimeoutMs }: { httpStatus: number | null; totalTimeoutMs: number },
): string | null {
  const totalS = totalTimeoutMs / 1_000;
  if (error instanceof ConnectLateError) {
    return `no connection within ${totalS} s`;
  }
  switch (getErrorReason(error)) {
    case 'UND_ERR_CONNECT_TIMEOUT':
      return `no connection within ${connectTimeoutMs / 1_000} s`;
    case 'TIMEOUT':
      return httpStatus === null
        ? `no response within ${totalS} s`
        : `the response did not end within ${totalS} s`;
    default:
      return null;
  }
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
