/**
 * All calls to providers use this client. It has keep-alive connections, a timeout over the whole
 * call, no redirects, and a maximum body size. Calls that can buy use separate connections.
 *
 * A failure is classified as certainly not sent or possibly received, because money depends on it.
 * URLs carry signatures, so no error contains a URL.
 */
import { setImmediate } from 'node:timers/promises';
import { Agent, request, type buildConnector } from 'undici';
import { connectSocket } from '../shared/outgoing/connect-socket.js';
import { createConnector } from '../shared/outgoing/create-connector.js';
import { getErrorReason } from '../shared/outgoing/error-reasons.js';
import { resolveBySystem, resolveHost } from '../shared/outgoing/resolve-host.js';
import { isUnusedConnection } from '../shared/outgoing/skip-informational.js';
import { ConnectLateError, runExchange } from '../shared/outgoing/run-exchange.js';
import { runInSpan, getTraceparent } from '../shared/tracing.js';
import { storePause, parseRetryAfterMs } from './pause.js';
import { latestNowMs, measureLatestNowMs } from '../redis/fleet-clock.js';
import { logRedisError } from '../redis/connection-errors.js';

export interface HttpCall {
  method: 'GET' | 'POST';
  url: URL;
  body?: string;
  timeoutMs: number;
  bodyBytesMax?: number;
  /**
   * The seller whose provider is called. If a response requests a pause, it applies to all calls to
   * this provider.
   */
  sellerId: string;
  /**
   * For calls that can buy, the time after which the call must not be sent, on the clock shared
   * through Redis. Other processes rely on this deadline.
   */
  sendBefore?: Date | null | undefined;
}

/**
 * Nothing was sent, because the deadline has passed or the time is unknown. It is thrown and not
 * returned, because it says nothing about the provider or the order.
 */
export class LateError extends Error {
  override name = 'LateError';
}

export type HttpResponse =
  | { kind: 'answer'; status: number; text: string; asksForPause: boolean }
  /** The connection or its TLS handshake failed, so the provider has not seen the request. */
  | { kind: 'not-sent'; reason: string }
  /** The provider may have received and executed the request. */
  | { kind: 'unknown'; reason: string };

const bodyBytesDefault = 65_536;
/**
 * Statuses that can request a pause with Retry-After: too many requests, and overloaded or in
 * maintenance.
 */
const pauseStatuses = [429, 503];

/**
 * Errors from connecting, including the TLS handshake. No byte of a request is written before the
 * connector returns its socket.
 */
const connectionErrors = new WeakSet<Error>();
const connectToProvider = createConnector(({ hostname, port }) =>
  connectSocket({ port, lookups: resolveHost(hostname, resolveBySystem) }),
);

class UnusableConnectionError extends Error {
  readonly code = 'UNUSABLE_CONNECTION';
}

/** Connections for calls that cannot buy, such as catalogues and balances. */
const agent = createAgent((options, callback) => {
  connectToProvider(options, (...result) => {
    const [error] = result;
    if (error) {
      connectionErrors.add(error);
    }
    callback(...result);
  });
});

/**
 * Connections for calls that can buy. The machine may have been paused unnoticed while it
 * connected. So the time is read from Redis again after connecting, before
 * `requireOnTime` checks the deadline.
 */
const orderAgent = createAgent((options, callback) => {
  const fail = (error: Error) => {
    connectionErrors.add(error);
    callback(error, null);
  };
  connectToProvider(options, (error, socket) => {
    if (!socket) {
      fail(error);
      return;
    }
    void findLateness(Infinity).then((late) => {
      if (late ?? !isUnusedConnection(socket)) {
        socket.destroy();
        fail(late ?? new UnusableConnectionError('The other side closed or wrote before the request'));
      } else {
        callback(null, socket);
      }
    });
  });
});

/**
 * Checks the deadline in the same iteration of the event loop as the write. The request may have
 * waited for a free connection or a blocked event loop.
 */
function requireOnTime(sendBefore: Date): void {
  const late = buildLateError(latestNowMs(), sendBefore.getTime());
  if (late) {
    throw late;
  }
}

function createAgent(connect: buildConnector.connector): Agent {
  return new Agent({
    // The limit is per origin. Several sellers may share an origin.
    connections: 256,
    // A pipelined request would fail together with the previous request on its connection.
    pipelining: 1,
    keepAliveTimeout: 10_000,
    keepAliveMaxTimeout: 60_000,
    connect,
  });
}

/**
 * Calls a provider and reads the whole body.
 * @throws LateError if the deadline has passed, so that nothing was sent.
 */
export function callHttp(call: HttpCall): Promise<HttpResponse> {
  return exchange(call, async (body) => {
    const chunks: Buffer[] = [];
    const isWhole = await readBounded(body, call.bodyBytesMax ?? bodyBytesDefault, (chunk) => {
      chunks.push(chunk);
    });
    return isWhole ? Buffer.concat(chunks).toString('utf8') : null;
  });
}

/**
 * Like `callHttp`, for a body that does not fit in memory. Passes each chunk of a 2xx body to
 * `take` as it arrives, and yields to other work between chunks. `text` is then empty.
 * @param take May throw, which makes the response unreadable.
 */
export function streamHttp(call: HttpCall, take: (chunk: Buffer) => void): Promise<HttpResponse> {
  return exchange(call, async (body, status) => {
    const isGood = status >= 200 && status < 300;
    const bytesMax = isGood ? (call.bodyBytesMax ?? bodyBytesDefault) : bodyBytesDefault;
    const isWhole = await readBounded(body, bytesMax, isGood ? take : () => undefined);
    return isWhole ? '' : null;
  });
}

/** @param read Reads the body. Returns null if the body exceeds its limit. */
function exchange(
  call: HttpCall,
  read: (body: AsyncIterable<Buffer>, status: number) => Promise<string | null>,
): Promise<HttpResponse> {
  const { method, sellerId } = call;
  // Never record the URL: it may contain a signature and the customer's number.
  const attributes = { 'http.request.method': method, 'topup.seller_id': sellerId };
  return runInSpan({ name: 'provider call', kind: 'client', attributes }, async (span) => {
    const answer = await exchangeOnce(call, read);
    if (answer.kind === 'answer') {
      span.note({ 'http.response.status_code': answer.status });
    } else {
      span.fail(answer.reason);
    }
    return answer;
  });
}

async function exchangeOnce(
  call: HttpCall,
  read: (body: AsyncIterable<Buffer>, status: number) => Promise<string | null>,
): Promise<HttpResponse> {
  await requireBeforeDeadline(call);
  const { sendBefore, timeoutMs } = call;
  const limits = sendBefore
    ? { dispatcher: orderAgent, timeoutMs, beforeWrite: () => requireOnTime(sendBefore) }
    : { dispatcher: agent, timeoutMs };
  try {
    return await runExchange(limits, async (bounds) => {
      const response = await request(call.url, { ...bounds, ...buildRequest(call) });
      const { statusCode: status } = response;
      const pauseMs = pauseStatuses.includes(status)
        ? parseRetryAfterMs(response.headers['retry-after'])
        : null;
      if (pauseMs !== null) {
        await storePause(call.sellerId, pauseMs);
      }
      const text = await read(response.body, status);
      return text === null
        ? { kind: 'unknown', reason: 'ANSWER_TOO_LONG' }
        : { kind: 'answer', status, text, asksForPause: pauseMs !== null };
    });
  } catch (error) {
    if (error instanceof LateError) {
      throw error;
    }
    return { kind: isNeverSent(error) ? 'not-sent' : 'unknown', reason: getErrorReason(error) };
  }
}

/**
 * An order has its connection to itself: a late second response to an earlier order on the same
 * connection could be taken as the answer to this one.
 */
function buildRequest({ method, body, sendBefore }: HttpCall) {
  const traceparent = getTraceparent();
  return {
    method,
    headers: {
      accept: 'application/json',
      'user-agent': 'topup-service/1',
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(traceparent !== undefined && { traceparent }),
    },
    body: body ?? null,
    reset: sendBefore instanceof Date,
  };
}

/**
 * Check again, because the process or its machine may have been paused since the deadline was set.
 */
async function requireBeforeDeadline({ sendBefore }: HttpCall): Promise<void> {
  const late = sendBefore instanceof Date ? await findLateness(sendBefore.getTime()) : null;
  if (late) {
    throw late;
  }
}

/**
 * A deadline further ahead was set before the clock of Redis was set back. Its lease may have ended
 * meanwhile. Longest deadline: the time to send, half a call of two parts, and a margin.
 */
const deadlineAheadMaxMs = 60_000;

let isSendingStopped = false;

/**
 * Aborts all calls that can buy. Called when this process can no longer store a provider's
 * response.
 */
export function stopSending(): void {
  isSendingStopped = true;
}

/**
 * Returns an error if a call with this deadline must not be sent, or null if it may be sent. The
 * deadline is in milliseconds on the clock shared through Redis.
 */
async function findLateness(beforeMs: number): Promise<LateError | null> {
  try {
    return buildLateError(await measureLatestNowMs(), beforeMs);
  } catch (error) {
    logRedisError('provider call not sent: the fleet time is unknown', error);
    return new LateError('Not sent: the fleet time is unknown', { cause: error });
  }
}

function buildLateError(atMs: number, beforeMs: number): LateError | null {
  if (isSendingStopped) {
    return new LateError('Not sent: this process is stopping');
  }
  if (atMs >= beforeMs) {
    return new LateError('Not sent: its deadline has passed');
  }
  return beforeMs !== Infinity && beforeMs - atMs > deadlineAheadMaxMs
    ? new LateError('Not sent: its deadline is from an earlier clock')
    : null;
}

/**
 * Passes the chunks of a body to `take`.
 * @returns False if the body exceeds `bytesMax`. The rest is then not read.
 */
async function readBounded(
  body: AsyncIterable<Buffer>,
  bytesMax: number,
  take: (chunk: Buffer) => void,
): Promise<boolean> {
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > bytesMax) {
      return false;
    }
    take(chunk);
    if (bytes > bodyBytesDefault) {
      // Without this, buffered chunks would be read without yielding to the event loop.
      await setImmediate();
    }
  }
  return true;
}

/**
 * True only for errors before the request was written. The same codes on an open connection prove
 * nothing. An invalid certificate is an error from connecting; a TLS alert after the handshake is
 * not.
 */
function isNeverSent(error: unknown): boolean {
  return error instanceof ConnectLateError || (error instanceof Error && connectionErrors.has(error));
}
