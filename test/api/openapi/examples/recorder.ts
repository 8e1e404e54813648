import type { RecordedExamples } from '../../../../src/api/openapi/examples.js';
import type { Answer } from '../../../support/api-client.js';
import { operationOf } from '../../../support/contract.js';
import { sendCall, type ApiCall } from '../../support/api.js';

export interface PlayedCall extends ApiCall {
  method: NonNullable<ApiCall['method']>;
  /** Default: the URL of the first web process. */
  baseUrl?: string;
}

export interface Recorder {
  /**
   * Makes the call, checks the response against the contract and records both as the example
   * `name`.
   */
  play(name: string, call: PlayedCall): Promise<Answer>;
  /** Records a received webhook. Only the first one of each event type is kept. */
  keepWebhook(event: string, body: unknown): void;
  recorded(): RecordedExamples;
}

export function createRecorder(baseUrl: string): Recorder {
  const recorded: RecordedExamples = { operations: {}, failures: {}, webhooks: {} };
  return {
    async play(name, call) {
      const { baseUrl: to = baseUrl, ...rest } = call;
      const answer = await sendCall(to, rest);
      const operation = operationOf(call.method, call.path.split('?', 1)[0] ?? '')?.operationId;
      if (answer.status >= 400) {
        recorded.failures[answer.status] = { ...recorded.failures[answer.status], [name]: answer.body };
      } else if (operation !== undefined) {
        const existing = recorded.operations[operation] ?? { responses: {} };
        const type = String(answer.headers['content-type']).split(';', 1)[0] ?? '';
        const ofStatus = existing.responses[answer.status];
        const ofType = { ...ofStatus?.[type], [name]: answer.body };
        const request = existing.request ?? call.body;
        recorded.operations[operation] = {
          ...(request !== undefined && { request }),
          responses: { ...existing.responses, [answer.status]: { ...ofStatus, [type]: ofType } },
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

/** Replaces keys, secrets and test addresses with public placeholders, and shortens lists. */
export function redactExamples(
  recorded: RecordedExamples,
  addresses: Record<string, string>,
): RecordedExamples {
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

/** Limits every list to three items. */
function cutLists(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.slice(0, 3).map(cutLists);
  }
  return typeof value === 'object' && value !== null
    ? Object.fromEntries(Object.entries(value).map(([name, each]) => [name, cutLists(each)]))
    : value;
}
