import createClient from 'openapi-fetch';
import type { paths } from './schema.js';

/** The console's own calls, typed by the document that its server is made from. */
export const api = createClient<paths>({
  baseUrl: '/admin/api',
  headers: { accept: 'application/json' },
});

/** Several questions may hear at once that the session has ended; the page is left once. */
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

/** What is refused may also be a password that a change asks for. */
async function isLoggedIn(): Promise<boolean> {
  const { status } = await fetch('/admin/api/session', { headers: { accept: 'application/json' } });
  return status !== 401;
}

/** The token that the server expects with every change, from the cookie that it set for scripts to read. */
export function antiForgeryToken(): string {
  return /(?:^|; )XSRF-TOKEN=([^;]*)/.exec(document.cookie)?.[1] ?? '';
}
