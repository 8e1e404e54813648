/**
 * Verifies webhooks. The signature covers the raw bytes, so verification must precede any JSON
 * parser.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { webhooks } from './schema.js';

type EventName = keyof webhooks;

/**
 * A webhook, with a type that depends on its event name. `id` is the same in every attempt. Store
 * it to recognize repeated deliveries.
 */
export type WebhookEvent = {
  [Name in EventName]: {
    id: string;
    name: Name;
    body: webhooks[Name]['post']['requestBody']['content']['application/json'];
  };
}[EventName];

export class WebhookError extends Error {
  override readonly name = 'WebhookError';
}

type HeaderValue = string | readonly string[] | undefined;

/**
 * The headers of a request: an object, a `Headers` of fetch, a `Map`, or pairs of name and value.
 * Names may be in upper or lower case. A value may be a list.
 */
export type WebhookHeaders =
  Readonly<Record<string, HeaderValue>> | Iterable<readonly [name: string, value: HeaderValue]>;

export interface WebhookOptions {
  /**
   * The secret of the endpoint (`whsec_…`). For callbacks, use the secret of the endpoint
   * `default`.
   */
  secret: string;
  /**
   * The maximum difference between the time of the signature and the current time, in seconds. A
   * webhook outside this range is refused.
   */
  toleranceS?: number;
  /** The current time in seconds since 1970. Tests set it. */
  nowS?: number;
}

/**
 * Verifies a webhook and parses its body.
 * @throws WebhookError if the webhook is forged, too old, or not from this service.
 */
export function verifyWebhook(
  message: { headers: WebhookHeaders; body: Uint8Array | string },
  { secret, toleranceS = 300, nowS = Date.now() / 1_000 }: WebhookOptions,
): WebhookEvent {
  if (!/^whsec_[A-Za-z0-9+/]+=*$/.test(secret)) {
    throw new TypeError('secret must be the webhook secret: whsec_…');
  }
  const headerOf = createHeaderReader(message.headers);
  const id = headerOf('webhook-id');
  const timestamp = headerOf('webhook-timestamp');
  const body = typeof message.body === 'string' ? Buffer.from(message.body) : Buffer.from(message.body);
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  const hmac = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body);
  const expected = Buffer.from(`v1,${hmac.digest('base64')}`);
  // While a secret is rotated, the header contains two signatures. All of them are compared, each
  // in constant time.
  const matches = headerOf('webhook-signature')
    .split(' ')
    .map((each) => isSame(Buffer.from(each), expected))
    .includes(true);
  if (!matches) {
    throw new WebhookError(
      'Wrong signature: the secret differs, or the body was changed or parsed before verification.',
    );
  }
  if (!/^\d{1,12}$/.test(timestamp) || Math.abs(nowS - Number(timestamp)) > toleranceS) {
    throw new WebhookError(`The webhook was not signed within ${toleranceS} s of now. Check your clock.`);
  }
  const parsed = parseObject(body.toString('utf8'));
  // The header `x-event` is not signed, so the event name in the signed body takes precedence.
  const name = typeof parsed.event === 'string' ? parsed.event : headerOf('x-event');
  return { id, name, body: parsed } as WebhookEvent;
}

/** Parses the body. Every body from the service is a JSON object, so any other body is refused. */
function parseObject(text: string): { event?: unknown } {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    // The check below throws the error.
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
    throw new WebhookError('The body is not a JSON object.');
  }
  return parsed;
}

export interface ReceiverOptions extends WebhookOptions {
  /**
   * Called for each attempt after the signature was verified. If it throws, the service sends the
   * webhook again later. Any webhook may be delivered twice, so process each `event.id` only once.
   */
  onEvent(event: WebhookEvent): void | Promise<void>;
  bodyBytesMax?: number;
}

/**
 * A request handler for `node:http` and Express. In Express, mount it before `express.json()`:
 * `app.post('/hooks/topup', webhookReceiver({ … }))`.
 */
export function webhookReceiver(options: ReceiverOptions) {
  return async (request: IncomingMessage & { body?: unknown }, response: ServerResponse): Promise<void> => {
    const { status, answer } = await rawBodyOf(request, options.bodyBytesMax ?? 1_000_000)
      .then((body) => receive({ headers: request.headers, body }, options))
      .catch((error: unknown) => refusal(error));
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
  };
}

/**
 * The part of Fastify's interface that the plugin needs. Fastify is not a dependency of this
 * package.
 */
interface FastifyLike {
  addContentTypeParser(
    type: string,
    options: { parseAs: 'buffer' },
    parser: (request: unknown, body: Buffer, done: (error: Error | null, body?: unknown) => void) => void,
  ): unknown;
  post(
    path: string,
    handler: (
      request: { headers: IncomingHttpHeaders; body: unknown },
      reply: { code(status: number): { send(body: unknown): unknown } },
    ) => Promise<unknown>,
  ): unknown;
}

/**
 * A Fastify plugin: `app.register(fastifyWebhooks({ path: '/hooks/topup', … }))`. The parsers of
 * other routes do not change.
 */
export function fastifyWebhooks({ path, ...options }: ReceiverOptions & { path: string }) {
  return (instance: FastifyLike, _options: unknown, done: () => void): void => {
    instance.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, parsed) => {
      parsed(null, body);
    });
    instance.post(path, async (request, reply) => {
      const message = { headers: request.headers, body: request.body as Buffer };
      const { status, answer } = await receive(message, options).catch((error: unknown) => refusal(error));
      return reply.code(status).send(answer);
    });
    done();
  };
}

async function receive(
  message: { headers: IncomingHttpHeaders; body: Uint8Array },
  options: ReceiverOptions,
): Promise<{ status: number; answer: object }> {
  await options.onEvent(verifyWebhook(message, options));
  return { status: 200, answer: { status: 'received' } };
}

/**
 * Returns the response for a webhook that was not processed. The status is 401 if the webhook is
 * not valid, and 500 if the handler failed. In both cases the service sends the webhook again.
 */
function refusal(error: unknown): { status: number; answer: object } {
  return error instanceof WebhookError
    ? { status: 401, answer: { status: 'refused', message: error.message } }
    : { status: 500, answer: { status: 'error' } };
}

async function rawBodyOf(request: IncomingMessage & { body?: unknown }, bytesMax: number): Promise<Buffer> {
  if (Buffer.isBuffer(request.body)) {
    return request.body;
  }
  if (request.body !== undefined) {
    throw new WebhookError('The body is already parsed: mount webhookReceiver before express.json().');
  }
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += (chunk as Buffer).length;
    if (bytes > bytesMax) {
      throw new WebhookError(`The body is larger than ${bytesMax} bytes.`);
    }
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks);
}

/**
 * @returns a function that finds a header by its lower-case name and throws if the header is
 * missing.
 */
function createHeaderReader(headers: WebhookHeaders): (name: string) => string {
  const given = new Map<string, string>();
  for (const [name, value] of isIterable(headers) ? headers : Object.entries(headers)) {
    const text = typeof value === 'string' ? value : value?.join(', ');
    if (text !== undefined) {
      given.set(name.toLowerCase(), text);
    }
  }
  return (name) => {
    const value = given.get(name);
    if (value === undefined) {
      throw new WebhookError(`The header ${name} is missing.`);
    }
    return value;
  };
}

function isIterable(
  headers: WebhookHeaders,
): headers is Iterable<readonly [name: string, value: HeaderValue]> {
  return Symbol.iterator in headers;
}

function isSame(given: Buffer, expected: Buffer): boolean {
  return given.length === expected.length && timingSafeEqual(given, expected);
}
