/**
 * Client of the public API with the key of the signed-in account. The portal has no calls of its
 * own, so it can do exactly what the key can do.
 */
import createClient from 'openapi-fetch';
import type { paths } from '../../../client-node/src/schema.js';
import { queries } from '../render.js';
import { language } from '../text/text.js';

export type Role = 'buyer' | 'seller';

/** Item in the session storage, which the browser deletes with the tab. */
const place = 'portal-key';

let listeners: (() => void)[] = [];
/** The message with which the service refused the last key. */
let refused: string | null = null;

export function keyInUse(): string | null {
  return sessionStorage.getItem(place);
}

export function whyRefused(): string | null {
  return refused;
}

export function signIn(key: string): void {
  refused = null;
  sessionStorage.setItem(place, key);
  listeners.forEach((listener) => listener());
}

/** Also clears all cached data. @param reason Message of the service; null: the user signed out. */
export function signOut(reason: string | null): void {
  refused = reason;
  sessionStorage.removeItem(place);
  queries.clear();
  listeners.forEach((listener) => listener());
}

export function onKeyChange(listener: () => void): () => void {
  listeners = [...listeners, listener];
  return () => {
    listeners = listeners.filter((each) => each !== listener);
  };
}

/** Reads the role from the prefix of the key. Only the service checks the key. */
export function roleOf(key: string): Role | null {
  return key.startsWith('bk_') ? 'buyer' : key.startsWith('sk_') ? 'seller' : null;
}

/** Typed as the calls of buyers. Calls of sellers have the same shapes under another path. */
export const calls = createClient<paths>({ baseUrl: '/', headers: { accept: 'application/json' } });

calls.use({
  async onRequest({ request }) {
    const key = request.headers.get('authorization')?.replace('Bearer ', '') ?? keyInUse();
    const url = new URL(request.url);
    if (key !== null && roleOf(key) === 'seller') {
      url.pathname = url.pathname.replace(/^\/api\/buyer\//, '/api/seller/');
    }
    const { method, headers } = request;
    // The body is copied as text: browsers send a stream over HTTP/2 only.
    const body = method === 'GET' ? null : await request.text();
    const sent = new Request(url, { method, headers, body: body === '' ? null : body });
    if (key !== null) {
      sent.headers.set('authorization', `Bearer ${key}`);
    }
    sent.headers.set('accept-language', language);
    return sent;
  },
  async onResponse({ response }) {
    if (response.status === 401 && keyInUse() !== null) {
      const { message } = (await response.clone().json()) as { message: string };
      signOut(message);
    }
  },
});
