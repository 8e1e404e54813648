/**
 * Every call to a provider goes through here: one pool of keep-alive connections, a time-out over the whole
 * call, no redirects, a bounded body. What went wrong is told by its class, because money depends on it: whether
 * the request certainly never left us, or may have arrived. Addresses carry signatures, so no error repeats one.
 */
import { Agent, request } from 'undici';

export interface HttpCall {
  method: 'GET' | 'POST';
  url: URL;
  body?: string;
  timeoutMs: number;
  bodyBytesMax?: number;
}

export type HttpAnswer =
  | { kind: 'answer'; status: number; text: string }
  /** The connection was never made, so nobody has seen the request. */
  | { kind: 'not-sent'; reason: string }
  /** The request may have arrived and may have been executed. */
  | { kind: 'unknown'; reason: string };

const connectTimeoutMs = 2_000;
const bodyBytesDefault = 65_536;

const agent = new Agent({
  // Above what the limit of each provider lets through at once, so that no call waits here unseen.
  connections: 256,
  // A pipelined request shares the fate of the one before it.
  pipelining: 1,
  keepAliveTimeout: 10_000,
  keepAliveMaxTimeout: 60_000,
  connect: { timeout: connectTimeoutMs },
});

export async function callHttp(call: HttpCall): Promise<HttpAnswer> {
  try {
    const response = await request(call.url, {
      dispatcher: agent,
      method: call.method,
      headers: {
        accept: 'application/json',
        'user-agent': 'topup-service/1',
        ...(call.body !== undefined && { 'content-type': 'application/json' }),
      },
      body: call.body ?? null,
      // Undici's own limits count from byte to byte; a body that drips would outlive them.
      signal: AbortSignal.timeout(call.timeoutMs),
    });
    const text = await readBounded(response.body, call.bodyBytesMax ?? bodyBytesDefault);
    return text === null
      ? { kind: 'unknown', reason: 'ANSWER_TOO_LONG' }
      : { kind: 'answer', status: response.statusCode, text };
  } catch (error) {
    return { kind: isNeverSent(error) ? 'not-sent' : 'unknown', reason: reasonOf(error) };
  }
}

async function readBounded(body: AsyncIterable<Buffer>, bytesMax: number): Promise<string | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > bytesMax) {
      return null;
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** Only errors of making the connection: the same codes on an open connection would prove nothing. */
function isNeverSent(error: unknown): boolean {
  if (error instanceof AggregateError) {
    return error.errors.length > 0 && error.errors.every(isNeverSent);
  }
  const { code, syscall } = fieldsOf(error);
  return code === 'UND_ERR_CONNECT_TIMEOUT' || syscall === 'connect' || syscall === 'getaddrinfo';
}

/** A short word for logs and the order's record; never a message, which may hold the address. */
function reasonOf(error: unknown): string {
  const { code, name } = fieldsOf(error);
  return name === 'TimeoutError' ? 'TIMEOUT' : (code ?? name ?? 'ERROR');
}

function fieldsOf(error: unknown): { code?: string; syscall?: string; name?: string } {
  return error instanceof Error ? error : {};
}
