/** HTTP calls as a customer of the service writes them. */
import { PlainError } from '../supervisor/plain-error.js';

const requestTimeoutMs = 10_000;

interface Envelope {
  status: string;
  code: string;
  message?: string;
  data: Record<string, unknown> | null;
}

/**
 * Calls the service once.
 * @throws PlainError unless the call succeeds.
 */
export async function callService(
  url: string,
  options: { apiKey: string; method?: 'GET' | 'POST'; body?: object },
): Promise<Record<string, unknown>> {
  const { apiKey, method = 'POST', body } = options;
  const answer = await request(url, {
    method,
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  const envelope = (await answer.json()) as Envelope;
  if (!answer.ok || envelope.data === null) {
    throw new PlainError(
      `${method} ${url} returned ${answer.status}, code ${envelope.code}: ${envelope.message ?? ''}`,
    );
  }
  return envelope.data;
}

/** Reads a JSON list from the simulator or the inbox. */
export async function readList<T>(url: string): Promise<T[]> {
  const answer = await request(url, {});
  if (!answer.ok) {
    throw new PlainError(`GET ${url} returned ${answer.status}`);
  }
  return (await answer.json()) as T[];
}

async function request(url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, { ...init, signal: AbortSignal.timeout(requestTimeoutMs) });
  } catch (error) {
    throw new PlainError(`${new URL(url).origin} does not respond`, { cause: error });
  }
}
