/**
 * Every call to a provider goes through here: keep-alive connections (of what can buy apart), a time-out over the whole
 * call, no redirects, a bounded body. What went wrong is told by its class, because money depends on it: whether
 * the request certainly never left us, or may have arrived. Addresses carry signatures, so no error repeats one.
 */
import { setImmediate } from 'node:timers/promises';
import { Agent, buildConnector, request, type Dispatcher } from 'undici';
import { runInSpan, getTraceparent } from '../shared/tracing.js';
import { storePause, parseRetryAfterMs } from './pause.js';
import { latestNowMs, sureNowMs } from '../redis/fleet-clock.js';
import { logRedisError } from '../redis/connection-errors.js';

export interface HttpCall {
  method: 'GET' | 'POST';
  url: URL;
  body?: string;
  timeoutMs: number;
  bodyBytesMax?: number;
  /** Whose provider it is: a pause that the answer asks for is kept for all calls to it. */
  sellerId: string;
  /** After this moment of the fleet's clock it must not leave: it can buy, and others go by what it has not done until then. */
  sendBefore?: Date | null | undefined;
}

/**
 * Nothing was sent: its time was over, or nobody could tell whether it was. Thrown, and no answer: it says nothing about the
 * provider or the order, and nothing that a provider says can be taken for it.
 */
export class LateError extends Error {
  override name = 'LateError';
}

export type HttpAnswer =
  | { kind: 'answer'; status: number; text: string; asksForPause: boolean }
  /** The connection was never made, TLS included, so nobody has seen the request. */
  | { kind: 'not-sent'; reason: string }
  /** The request may have arrived and may have been executed. */
  | { kind: 'unknown'; reason: string };

const connectTimeoutMs = 2_000;
const bodyBytesDefault = 65_536;
/** Too many requests; overloaded or in maintenance. Both may say for how long. */
const pauseStatuses = [429, 503];

/** Also of the TLS handshake: until a connector hands over its socket, no byte of a request was written to it. */
const connectionErrors = new WeakSet<Error>();
const connectSocket = buildConnector({ timeout: connectTimeoutMs });

/** What reads a catalogue or a balance. */
const agent = createAgent((options, callback) => {
  connectSocket(options, (...result) => {
    const [error] = result;
    if (error) {
      connectionErrors.add(error);
    }
    callback(...result);
  });
});

/**
 * What can buy. A machine may stand still while a connection is made, and nothing in it tells that: once there is one, Redis is
 * asked for the time again, so that what is about to be written knows it (`buyingUntil`).
 */
const orderAgent = createAgent((options, callback) => {
  const fail = (error: Error) => {
    connectionErrors.add(error);
    callback(error, null);
  };
  connectSocket(options, (error, socket) => {
    if (!socket) {
      fail(error);
      return;
    }
    void findLateness(Infinity).then((late) => {
      if (late ?? socket.destroyed) {
        socket.destroy();
        fail(late ?? new Error('The connection was closed at once'));
      } else {
        callback(null, socket);
      }
    });
  });
});

/**
 * The last look at the clock, in the same turn as the write: a request may have waited for a connection, for a free one of
 * those that there are, or for a loop that others held. What is late is dropped and its connection kept.
 */
function buildOrderDispatcher(sendBefore: Date): Dispatcher {
  return orderAgent.compose(
    (dispatch) => (options, handler) =>
      dispatch(options, {
        onRequestStart(controller, context) {
          const late = getLateness(latestNowMs(), sendBefore.getTime());
          if (late) {
            throw late;
          }
          handler.onRequestStart?.(controller, context);
        },
        onRequestUpgrade: (...given) => handler.onRequestUpgrade?.(...given),
        onResponseStart: (...given) => handler.onResponseStart?.(...given),
        onResponseData: (...given) => handler.onResponseData?.(...given),
        onResponseEnd: (...given) => handler.onResponseEnd?.(...given),
        onResponseError: (...given) => handler.onResponseError?.(...given),
      }),
  );
}

function createAgent(connect: buildConnector.connector): Agent {
  return new Agent({
    // Of one address, which may be that of several sellers.
    connections: 256,
    // A pipelined request shares the fate of the one before it.
    pipelining: 1,
    keepAliveTimeout: 10_000,
    keepAliveMaxTimeout: 60_000,
    connect,
  });
}

/** @throws LateError for a call that was not to leave any more. */
export function callHttp(call: HttpCall): Promise<HttpAnswer> {
  return exchange(call, async (body) => {
    const chunks: Buffer[] = [];
    const isWhole = await readBounded(body, call.bodyBytesMax ?? bodyBytesDefault, (chunk) => {
      chunks.push(chunk);
    });
    return isWhole ? Buffer.concat(chunks).toString('utf8') : null;
  });
}

/**
 * As `callHttp`, for an answer too long to be held: each part of a 2xx body goes to `take` as it comes in, and others
 * have their turn in between. The `text` of such an answer is empty.
 * @param take May throw: then the answer was not readable.
 */
export function streamHttp(call: HttpCall, take: (chunk: Buffer) => void): Promise<HttpAnswer> {
  return exchange(call, async (body, status) => {
    const isGood = status >= 200 && status < 300;
    const bytesMax = isGood ? (call.bodyBytesMax ?? bodyBytesDefault) : bodyBytesDefault;
    const isWhole = await readBounded(body, bytesMax, isGood ? take : () => undefined);
    return isWhole ? '' : null;
  });
}

/** @param read Returns null for a body that is longer than it may be. */
function exchange(
  call: HttpCall,
  read: (body: AsyncIterable<Buffer>, status: number) => Promise<string | null>,
): Promise<HttpAnswer> {
  const { method, sellerId } = call;
  // Not the address: it may carry a signature and the customer's number.
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
): Promise<HttpAnswer> {
  await requireInTime(call);
  const traceparent = getTraceparent();
  try {
    const response = await request(call.url, {
      dispatcher: call.sendBefore instanceof Date ? buildOrderDispatcher(call.sendBefore) : agent,
      method: call.method,
      headers: {
        accept: 'application/json',
        'user-agent': 'topup-service/1',
        ...(call.body !== undefined && { 'content-type': 'application/json' }),
        ...(traceparent !== undefined && { traceparent }),
      },
      body: call.body ?? null,
      // Undici's own limits count from byte to byte; a body that drips would outlive them.
      signal: AbortSignal.timeout(call.timeoutMs),
    });
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
  } catch (error) {
    if (error instanceof LateError) {
      throw error;
    }
    return { kind: isNeverSent(error) ? 'not-sent' : 'unknown', reason: getErrorReason(error) };
  }
}

/** Before it is handed over: the process, or its machine, may have stood still since it was given its time. */
async function requireInTime({ sendBefore }: HttpCall): Promise<void> {
  const late = sendBefore instanceof Date ? await findLateness(sendBefore.getTime()) : null;
  if (late) {
    throw late;
  }
}

let isSendingStopped = false;

/** What can buy is sent no more: nobody could write down what the provider answers. */
export function stopSending(): void {
  isSendingStopped = true;
}

/** Why nothing may leave that had to leave before this moment of the fleet's clock; null: it may. */
async function findLateness(beforeMs: number): Promise<LateError | null> {
  try {
    return getLateness(await sureNowMs(), beforeMs);
  } catch (error) {
    logRedisError('a provider is not asked, as nobody knows the time', error);
    return new LateError('Not sent: nobody knows the time', { cause: error });
  }
}

function getLateness(atMs: number, beforeMs: number): LateError | null {
  if (isSendingStopped) {
    return new LateError('Not sent: this process ends');
  }
  return atMs >= beforeMs ? new LateError('Not sent: its time was over') : null;
}

/** @returns false if the body is longer than it may be; the rest of it is not read. */
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
      // What has already arrived would be read without a break.
      await setImmediate();
    }
  }
  return true;
}

/**
 * Only errors of making the connection: the same codes on an open connection would prove nothing. An expired or wrong
 * certificate is one of them, a server's alert after the handshake is not.
 */
function isNeverSent(error: unknown): boolean {
  return error instanceof Error && connectionErrors.has(error);
}

/** A short word for logs and the order's record; never a message, which may hold the address. */
function getErrorReason(error: unknown): string {
  const { code, name } = getErrorFields(error);
  return name === 'TimeoutError' ? 'TIMEOUT' : (code ?? name ?? 'ERROR');
}

function getErrorFields(error: unknown): { code?: string; name?: string } {
  return error instanceof Error ? error : {};
}
