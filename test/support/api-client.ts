import { Agent, request } from 'undici';
import { expectToFitContract } from './contract.js';

export interface Answer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  // Tests read response bodies without a type. `expectToFitContract` checks their shape.
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- see above
  body: any;
}

export interface ApiClient {
  post(path: string, body?: unknown): Promise<Answer>;
  get(path: string): Promise<Answer>;
}

const agent = new Agent({ connections: 200 });

/**
 * Returns a client that calls the service with this API key.
 * @throws Error from each call whose response does not match the contract.
 */
export function apiClient(baseUrl: string, apiKey: string): ApiClient {
  async function call(method: 'GET' | 'POST', path: string, body?: unknown): Promise<Answer> {
    const response = await request(baseUrl + path, {
      method,
      dispatcher: agent,
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.body.text();
    const answer = {
      status: response.statusCode,
      headers: response.headers,
      body: text === '' ? null : (JSON.parse(text) as unknown),
    };
    expectToFitContract({ method, path, ...answer });
    return answer;
  }
  return { post: (path, body) => call('POST', path, body), get: (path) => call('GET', path) };
}

let counter = 0;

/** Returns a reference that no other test uses. */
export function uniqueRef(prefix = 'ref'): string {
  counter += 1;
  return `${prefix}-${process.pid}-${Date.now().toString(36)}-${counter}`;
}
