/** Calls of the service, and whether they may be repeated. */
import { calls } from './calls.js';
import { OutcomeUnknownError, TopupError } from './errors.js';
import type { components, operations } from './schema.js';
import { refIdOf } from './ref-id.js';
import { requireSendable } from './key.js';
import { isServiceRefusal, send, usual, type Answer, type SendOptions } from './send.js';

/** Every call that needs a key, by its operationId in the OpenAPI document. */
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

/** The `data` of a success. */
export type Data<Id extends OperationId> = Success<Id> extends { data: infer Found } ? Found : Success<Id>;

export type BodyOf<Id extends OperationId> = operations[Id] extends {
  requestBody?: { content: { 'application/json': infer Body } };
}
  ? Body
  : undefined;

/** The input of a call. */
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
type Filed = 'downloadBuyerReport' | 'downloadSellerReport' | 'getReceipt';
/** Calls that return a file if a `format` is given. */
type FiledOnRequest = 'getBuyerStatement' | 'getSellerStatement';

const files = new Set<OperationId>([
  'downloadBuyerReport',
  'downloadSellerReport',
  'getReceipt',
] satisfies Filed[]);

/** POST calls that only read. */
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
   * Makes any call. It is repeated after a failure if that is safe.
   * @throws TopupError for a refusal. @throws OutcomeUnknownError if no answer arrived. @throws
   * TypeError if the call returns a file.
   */
  async function call<Id extends Exclude<OperationId, Filed>>(
    id: Id,
    input: Input<Id> = {},
  ): Promise<Data<Id>> {
    if (files.has(id)) {
      throw new TypeError(useDownload(id));
    }
    return (await dataOf(id, input, { isFile: false })) as Data<Id>;
  }

  /**
   * The file of a report, a receipt or (with a `format`) a statement, unchanged. `timeoutMs` covers
   * the whole download. If a proxy removes the content length (HTTP/1.0), an incomplete file cannot
   * be detected: compare with the `size` of the report.
   * @throws TopupError for a refusal. @throws OutcomeUnknownError if no complete file arrived.
   * @throws TypeError if the call returns no file.
   */
  async function download<Id extends Filed | FiledOnRequest>(id: Id, input: Input<Id>): Promise<Buffer> {
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
        // Every attempt sends the same bytes.
        ...(input.body !== undefined && { body: JSON.stringify(input.body) }),
      },
      {
        ...usual,
        ...options,
        isAnswer,
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
      // This attempt had no effect, but a lost earlier attempt may have had one, unless the call
      // only reads.
      throw lostBefore === null || refId === null || isRead
        ? refusal
        : new OutcomeUnknownError(id, refId, refusal);
    }
    if (Buffer.isBuffer(body['data']) !== isFile) {
      // A retry would get the same answer.
      throw new TypeError(isFile ? `${id} returns no file: use call, or set a format` : useDownload(id));
    }
    return body['data'];
  }

  return { call, download };
}

const useDownload = (id: OperationId) => `${id} returns a file: use download`;

function fillPath(path: string, values: Record<string, unknown>): string {
  return path.replace(/\{(\w+)\}/g, (_match, name: string) => {
    const value = values[name];
    if (typeof value !== 'string' || value === '') {
      throw new TypeError(`${name} of ${path} is missing`);
    }
    // HTTP clients resolve these as path steps.
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
 * True for an answer of the service: a success with data, or a refusal. Any other answer leaves the
 * outcome unknown.
 */
function isAnswer(httpStatus: number, answer: Answer): boolean {
  const { status, data } = answer;
  return httpStatus < 400
    ? status === 'success' && typeof data === 'object' && data !== null
    : isServiceRefusal(answer);
}
