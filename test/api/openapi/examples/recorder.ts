import { request } from 'undici';
import { openApiDocument } from '../../../../src/api/openapi/document.js';
import type { RecordedExamples } from '../../../../src/api/openapi/examples.js';
import { expectToFitContract } from '../../../support/contract.js';

export interface PlayedCall {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  path: string;
  key?: string | undefined;
  body?: unknown;
  /** Default JSON. */
  type?: string;
  accept?: string;
  /** Where to, if not to the first web process. */
  baseUrl?: string;
}

export interface Recorder {
  /** Makes the call, checks its answer against the contract, and keeps both as the example `name`. */
  play(name: string, call: PlayedCall): Promise<{ status: number; body: Answered }>;
  /** Keeps what our receiver was sent. */
  keepWebhook(event: string, body: unknown): void;
  recorded(): RecordedExamples;
}

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- the contract check knows its shape
type Answered = any;

const templates = Object.entries(openApiDocument().paths).flatMap(([template, item]) =>
  Object.entries(item).map(([method, { operationId }]) => ({
    operationId,
    method: method.toUpperCase(),
    pattern: new RegExp(`^${template.replace(/\{\w+\}/g, '[^/]+')}$`),
  })),
);

export function createRecorder(baseUrl: string): Recorder {
  const recorded: RecordedExamples = { operations: {}, failures: {}, webhooks: {} };
  return {
    async play(name, call) {
      const answer = await send({ baseUrl, ...call });
      expectToFitContract({ method: call.method, path: call.path, ...answer });
      const path = call.path.split('?', 1)[0] ?? '';
      const operation = templates.find(
        ({ method, pattern }) => method === call.method && pattern.test(path),
      )?.operationId;
      if (answer.status >= 400) {
        recorded.failures[answer.status] = { ...recorded.failures[answer.status], [name]: answer.body };
      } else if (operation !== undefined) {
        const kept = recorded.operations[operation] ?? { responses: {} };
        const type = String(answer.headers['content-type']).split(';', 1)[0] ?? '';
        const ofStatus = kept.responses[answer.status];
        const ofType = { ...ofStatus?.[type], [name]: answer.body };
        const request = kept.request ?? call.body;
        recorded.operations[operation] = {
          ...(request !== undefined && { request }),
          responses: { ...kept.responses, [answer.status]: { ...ofStatus, [type]: ofType } },
        };
      }
      return answer;
    },
    keepWebhook(event, body) {
      if (!(event in recorded.webhooks)) {
        recorded.webhooks[event] = body;
      }
    },
    recorded: () => recorded,
  };
}

async function send({
  baseUrl,
  method,
  path,
  key,
  body,
  type = 'application/json',
  accept = '*/*',
}: PlayedCall & { baseUrl: string }) {
  const response = await request(baseUrl + path, {
    method,
    headers: { ...(key !== undefined && { authorization: `Bearer ${key}` }), 'content-type': type, accept },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.body.text();
  const isJson = String(response.headers['content-type']).startsWith('application/json');
  return {
    status: response.statusCode,
    headers: response.headers,
    body: isJson ? JSON.parse(text) : text,
  };
}

/** Keys, secrets and addresses of the test's machine become what a reader may see; long lists are cut. */
export function presentable(recorded: RecordedExamples, addresses: Record<string, string>): RecordedExamples {
  let text = JSON.stringify(recorded);
  for (const [address, shown] of Object.entries(addresses)) {
    text = text.replaceAll(address, shown);
  }
  const shown = JSON.parse(
    text
      .replace(/\b([bs]k)_(test|live)_\w+/g, '$1_$2_0123456789abcdef')
      .replace(/whsec_[\w+/=]+/g, 'whsec_MDEyMzQ1Njc4OWFiY2RlZg==')
      .replace(/("access_token":"|[?&]token=)[^"&]+/g, '$1example'),
  ) as RecordedExamples;
  return cutLists(shown) as RecordedExamples;
}

/** Three of a list show what the others are. */
function cutLists(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.slice(0, 3).map(cutLists);
  }
  return typeof value === 'object' && value !== null
    ? Object.fromEntries(Object.entries(value).map(([name, each]) => [name, cutLists(each)]))
    : value;
}
