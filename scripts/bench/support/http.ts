import { request } from 'undici';
import type { RunningProcess } from './start-process.js';

/**
 * Changes the behaviour of the simulator or the inbox.
 * @throws Error with the response if the change is refused.
 */
export async function configureSimulator({ url }: RunningProcess, change: object): Promise<void> {
  const { statusCode, body } = await request(`${url}/control`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(change),
  });
  const text = await body.text();
  if (statusCode !== 200) {
    throw new Error(`${url}/control returned ${statusCode}: ${text}`);
  }
}

export async function fetchJson<T>(url: string): Promise<T> {
  const { body } = await request(url);
  return (await body.json()) as T;
}
