import createClient from 'openapi-fetch';
import type { paths } from './schema.js';

/** The console's own calls, typed by the document that its server is made from. */
export const api = createClient<paths>({
  baseUrl: '/admin/api',
  headers: { accept: 'application/json' },
});

api.use({
  onRequest({ request }) {
    request.headers.set('x-xsrf-token', antiForgeryToken());
    return request;
  },
  onResponse({ response }) {
    if (response.status === 401) {
      window.location.assign('/admin/login');
    }
  },
});

/** The token that the server expects with every change, from the cookie that it set for scripts to read. */
export function antiForgeryToken(): string {
  return /(?:^|; )XSRF-TOKEN=([^;]*)/.exec(document.cookie)?.[1] ?? '';
}

/** A call that the server refused, in its own words. */
class Refusal extends Error {}

export function isRefusal(error: unknown): boolean {
  return error instanceof Refusal;
}

/** The `data` of an answer. @throws Refusal with the words of the failure envelope. */
export async function dataOf<T>(
  call: Promise<{ data?: { data: T }; error?: { message: string; request_id: string } }>,
): Promise<T> {
  const { data, error } = await call;
  if (data === undefined) {
    throw new Refusal(error ? `${error.message} (${error.request_id})` : '');
  }
  return data.data;
}
