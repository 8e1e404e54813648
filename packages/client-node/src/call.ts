/** Sends the calls of the service and decides which of them may be retried. */
import { calls } from './calls.js';
import { OutcomeUnknownError, TopupError } from './errors.js';
import type { components, operations } from './schema.js';
import { refIdOf } from './ref-id.js';
import { requireSendable } from './key.js';
import { isServiceRefusal, send, defaultOptions, type ResponseBody, type SendOptions } from './send.js';

/** The operationId of each call that needs an API key, from the OpenAPI document. */
export type OperationId = keyof typeof calls;

type Success<Id extends OperationId> = operations[Id]['responses'] extends infer Responses
  ? {
      [Status in keyof Responses]: Status extends 200 | 201 | 202
        ? Responses[Status] extends { content: { 'application/json': infer Body } }
          ? Body
          : never
        : never;
    }[keyof Responses]
  : never;

/** The `data` of a successful response. */
export type Data<Id extends OperationId> = Success<Id> extends { data: infer Found } ? Found : Success<Id>;

export type BodyOf<Id extends OperationId> = operations[Id] extends {
  requestBody?: { content: { 'application/json': infer Body } };
}
  ? Body
  : undefined;

/** The request body, path parameters and query parameters of a call. */
export interface Input<Id extends OperationId> {
  body?: BodyOf<Id>;
  path?: operations[Id]['parameters']['path'];
  query?: operations[Id]['parameters']['query'];
}

export interface ClientOptions extends Partial<SendOptions> {
  baseUrl: string;
  apiKey: string;
}

export type Call = ReturnType<typeof createCall>['call'];

/** Calls that return a file. */
type FileOperationId = 'downloadBuyerReport' | 'downloadSellerReport' | 'getReceipt';
/** Calls that return a file if a `format` is given. */
type OptionalFileOperationId = 'getBuyerStatement' | 'getSellerStatement';

const files = new Set<OperationId>([
  'downloadBuyerReport',
  'downloadSellerReport',
  'getReceipt',
] satisfies FileOperationId[]);

/** Calls that use POST but only read data. */
const reads = new Set<OperationId>([
  ...(['getBuyerBalance', 'getBuyerPriceList', 'inquireBill', 'listBuyerTransactions'] as const),
  ...(['lookupBuyerTransactions', 'listSellerTransactions'] as const),
]);

export function createCall({ baseUrl, apiKey, ...options }: ClientOptions) {
  if (!/^https?:\/\//i.test(baseUrl)) {
    throw new TypeError(`baseUrl must begin with https:// or http://, but is "${baseUrl}"`);
  }
  requireSendable(apiKey);
  const root = baseUrl.replace(/\/+$/, '');

  /**
   * Makes a call and retries it after a failure if that is safe.
   * @throws TopupError if the service refuses the call.
   * @throws OutcomeUnknownError if the outcome is unknown after the last attempt.
   * @throws TypeError if the call returns a file.
   */
  async function call<Id extends Exclude<OperationId, FileOperationId>>(
    id: Id,
    input: Input<Id> = {},
  ): Promise<Data<Id>> {
    if (files.has(id)) {
      throw new TypeError(buildUseDownloadMessage(id));
    }
    return (await dataOf(id, input, { isFile: false })) as Data<Id>;
  }

  /**
   * Downloads a report, a receipt or a statement. A statement requires a `format`. The bytes are
   * returned unchanged. `timeoutMs` limits the whole download.
   *
   * If a proxy removes the content length (HTTP/1.0), an incomplete file cannot be detected. In
   * that case compare the number of bytes with the `size` of the report.
   * @throws TopupError if the service refuses the call.
   * @throws OutcomeUnknownError if no complete file arrived.
   * @throws TypeError if the call returns no file.
   */
  async function download<Id extends FileOperationId | OptionalFileOperationId>(
    id: Id,
    input: Input<Id>,
  ): Promise<Buffer> {
    return (await dataOf(id, input, { isFile: true })) as Buffer;
  }

  async function dataOf<Id extends OperationId>(
    id: Id,
    input: Input<Id>,
    { isFile }: { isFile: boolean },
  ): Promise<unknown> {
    if (!Object.hasOwn(calls, id)) {
      throw new TypeError(`Unknown call "${id}". Use an operationId of /openapi.json`);
    }
    const { method, path } = calls[id];
    const refId = refIdOf(input.body);
    const isRead = method === 'GET' || reads.has(id);
    const sent = await send(
      `${root}${fillPath(path, input.path ?? {})}${queryText(input.query ?? {})}`,
      {
        method,
        headers: {
          authorization: `Bearer ${apiKey}`,
          accept: isFile ? '*/*' : 'application/json',
          ...(input.body !== undefined && { 'content-type': 'application/json' }),
        },
        // The body is encoded once, so that every attempt sends the same bytes.
        ...(input.body !== undefined && { body: JSON.stringify(input.body) }),
      },
      {
        ...defaultOptions,
        ...options,
        isAnswer: isServiceResponse,
        maybeFile: method === 'GET',
        isRepeatable: isRead || refId !== null,
      },
    );
    if ('lost' in sent) {
      throw new OutcomeUnknownError(id, refId, sent.lost, { isRead });
    }
    const { status, body, lostBefore } = sent.answer;
    if (status >= 400) {
      const refusal = new TopupError(status, body as unknown as components['schemas']['Failure']);
      // The refused attempt had no effect. An earlier attempt whose response was lost may have had
      // one, unless the call only reads.
      throw lostBefore === null || refId === null || isRead
        ? refusal
        : new OutcomeUnknownError(id, refId, refusal);
    }
    if (Buffer.isBuffer(body['data']) !== isFile) {
      // Do not throw OutcomeUnknownError: the call has succeeded, and a retry would get the same
      // response.
      throw new TypeError(
        isFile ? `${id} returns no file: use call, or set a format` : buildUseDownloadMessage(id),
      );
    }
    return body['data'];
  }

  return { call, download };
}

const buildUseDownloadMessage = (id: OperationId) => `${id} returns a file: use download`;

function fillPath(path: string, values: Record<string, unknown>): string {
  return path.replace(/\{(\w+)\}/g, (_match, name: string) => {
    const value = values[name];
    if (typeof value !== 'string' || value === '') {
      throw new TypeError(`${name} of ${path} is missing`);
    }
    // HTTP clients would treat these values as relative path segments.
    if (value === '.' || value === '..') {
      throw new TypeError(`${name} of ${path} cannot be "${value}"`);
    }
    return encodeURIComponent(value);
  });
}

function queryText(values: object): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    if (value !== undefined) {
      query.set(name, String(value));
    }
  }
  return query.size === 0 ? '' : `?${query.toString()}`;
}

/**
 * True for a response from the service: a success with data, or a refusal. After any other
 * response, such as one from a proxy, the outcome is unknown.
 */
function isServiceResponse(httpStatus: number, answer: ResponseBody): boolean {
  const { status, data } = answer;
  return httpStatus < 400
    ? status === 'success' && typeof data === 'object' && data !== null
    : isServiceRefusal(answer);
}
