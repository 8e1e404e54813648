/** One call of the service, and which of them may be repeated. */
import { calls } from './calls.js';
import { OutcomeUnknownError, TopupError } from './errors.js';
import type { components, operations } from './schema.js';
import { refIdOf } from './ref-id.js';
import { requireSendable } from './key.js';
import { isServiceRefusal, send, usual, type Answer, type SendOptions } from './send.js';

/** Every call that takes a key, by the name that it has in the document. */
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

/** `data` of a success. */
export type Data<Id extends OperationId> = Success<Id> extends { data: infer Found } ? Found : Success<Id>;

export type BodyOf<Id extends OperationId> = operations[Id] extends {
  requestBody?: { content: { 'application/json': infer Body } };
}
  ? Body
  : undefined;

/** What a call takes. */
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

/** Calls that answer a file. */
type Filed = 'downloadBuyerReport' | 'downloadSellerReport' | 'getReceipt';
/** Those that do so with a `format`. */
type FiledOnRequest = 'getBuyerStatement' | 'getSellerStatement';

const files = new Set<OperationId>([
  'downloadBuyerReport',
  'downloadSellerReport',
  'getReceipt',
] satisfies Filed[]);

/** POST that reads. */
const reads = new Set<OperationId>([
  ...(['getBuyerBalance', 'getBuyerPriceList', 'inquireBill', 'listBuyerTransactions'] as const),
  ...(['lookupBuyerTransactions', 'listSellerTransactions'] as const),
]);

export function createCall({ baseUrl, apiKey, ...options }: ClientOptions) {
  if (!/^https?:\/\//i.test(baseUrl)) {
    throw new TypeError(`baseUrl must begin with https:// or http://, and is "${baseUrl}"`);
  }
  requireSendable(apiKey);
  const root = baseUrl.replace(/\/+$/, '');

  /**
   * Makes any call, and repeats it where that does the same once.
   * @throws TopupError for a refusal. @throws OutcomeUnknownError where no answer came. @throws TypeError where a file did.
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
   * The file of a report, a receipt or (with a `format`) a statement, as it is. `timeoutMs` is for the whole of it.
   * Where a proxy takes its length away (HTTP/1.0), that it is whole cannot be known: compare with the `size` of the report.
   * @throws TopupError for a refusal. @throws OutcomeUnknownError where no whole file came. @throws TypeError where the answer is none.
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
      throw new TypeError(`There is no call "${id}": their names are the operationId of /openapi.json`);
    }
    const { method, path } = calls[id];
    const refId = refIdOf(input.body);
    const isRead = method === 'GET' || reads.has(id);
    const sent = await send(
      `${root}${filled(path, input.path ?? {})}${queryText(input.query ?? {})}`,
      {
        method,
        headers: {
          authorization: `Bearer ${apiKey}`,
          accept: isFile ? '*/*' : 'application/json',
          ...(input.body !== undefined && { 'content-type': 'application/json' }),
        },
        // The same bytes in every attempt.
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
      // This attempt made nothing. The one that was lost may have, if it was no read.
      throw lostBefore === null || refId === null || isRead
        ? refusal
        : new OutcomeUnknownError(id, refId, refusal);
    }
    if (Buffer.isBuffer(body['data']) !== isFile) {
      // It is the service's answer, and would be the same again.
      throw new TypeError(isFile ? `${id} answers no file: use call, or give a format` : useDownload(id));
    }
    return body['data'];
  }

  return { call, download };
}

const useDownload = (id: OperationId) => `${id} answers a file: use download`;

function filled(path: string, values: Record<string, unknown>): string {
  return path.replace(/\{(\w+)\}/g, (_match, name: string) => {
    const value = values[name];
    if (typeof value !== 'string' || value === '') {
      throw new TypeError(`${name} of ${path} is missing`);
    }
    // Whatever sends it would take these for steps of the path.
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

/** The service's own: a success with its data, or a refusal. Anything else leaves open what was done. */
function isAnswer(httpStatus: number, answer: Answer): boolean {
  const { status, data } = answer;
  return httpStatus < 400
    ? status === 'success' && typeof data === 'object' && data !== null
    : isServiceRefusal(answer);
}
