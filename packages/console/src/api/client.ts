import createClient from 'openapi-fetch';
import type { paths } from './schema.js';

/** Client of the console API. Its types come from the OpenAPI document of that API. */
export const api = createClient<paths>({
  baseUrl: '/admin/api',
  headers: { accept: 'application/json' },
});

/**
 * True once the browser leaves for the login page. Several requests may fail at once when the
 * session ends, and only the first of them may redirect.
 */
let isLeaving = false;

api.use({
  onRequest({ request }) {
    request.headers.set('x-xsrf-token', antiForgeryToken());
    return request;
  },
  async onResponse({ response }) {
    if (response.status === 401 && !(await isLoggedIn()) && !isLeaving) {
      isLeaving = true;
      window.location.assign('/admin/login');
    }
  },
});

/**
 * Checks whether the session still exists. A 401 may also mean that a form contained a wrong
 * password.
 */
async function isLoggedIn(): Promise<boolean> {
  const { status } = await fetch('/admin/api/session', { headers: { accept: 'application/json' } });
  return status !== 401;
}

/**
 * Reads the CSRF token from its cookie. The server requires the token in every request that changes
 * something.
 */
export function antiForgeryToken(): string {
  return /(?:^|; )XSRF-TOKEN=([^;]*)/.exec(document.cookie)?.[1] ?? '';
}
