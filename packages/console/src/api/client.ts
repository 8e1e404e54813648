import createClient from 'openapi-fetch';
import type { paths } from './schema.js';

/** Client of the console API, typed by its OpenAPI document. */
export const api = createClient<paths>({
  baseUrl: '/admin/api',
  headers: { accept: 'application/json' },
});

/** Several requests may fail at once when the session ends. Only the first leaves the page. */
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

/** A 401 may also mean that a password in a form was wrong, so the session is checked. */
async function isLoggedIn(): Promise<boolean> {
  const { status } = await fetch('/admin/api/session', { headers: { accept: 'application/json' } });
  return status !== 401;
}

/** Reads the CSRF token from its cookie. The server requires the token for every change. */
export function antiForgeryToken(): string {
  return /(?:^|; )XSRF-TOKEN=([^;]*)/.exec(document.cookie)?.[1] ?? '';
}
