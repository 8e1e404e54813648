/**
 * Client of the public API that uses the key of the signed-in account. The portal has no API of its
 * own, so a user can do exactly what the key allows.
 */
import createClient from 'openapi-fetch';
import type { paths } from '../../../client-node/src/schema.js';
import { queryClient } from '../render.js';
import { language } from '../text/text.js';

export type Role = 'buyer' | 'seller';

/** The name of the item in the session storage. The browser deletes it when the tab is closed. */
const storageKey = 'portal-key';

let listeners: (() => void)[] = [];
/** The message from the service when it refused the last key. */
let refusalReason: string | null = null;

export function getKey(): string | null {
  return sessionStorage.getItem(storageKey);
}

export function getRefusalReason(): string | null {
  return refusalReason;
}

export function signIn(key: string): void {
  refusalReason = null;
  sessionStorage.setItem(storageKey, key);
  listeners.forEach((listener) => listener());
}

/**
 * Signs out and clears all cached data.
 * @param reason The message from the service. Null if the user has signed out.
 */
export function signOut(reason: string | null): void {
  refusalReason = reason;
  sessionStorage.removeItem(storageKey);
  queryClient.clear();
  listeners.forEach((listener) => listener());
}

export function onKeyChange(listener: () => void): () => void {
  listeners = [...listeners, listener];
  return () => {
    listeners = listeners.filter((each) => each !== listener);
  };
}

/**
 * Reads the role from the prefix of a key. Whether the key is valid is checked only by the service.
 */
export function roleOf(key: string): Role | null {
  return key.startsWith('bk_') ? 'buyer' : key.startsWith('sk_') ? 'seller' : null;
}

/**
 * The calls of the API. The types are those for buyers. Calls for sellers have the same shape and a
 * different path.
 */
export const portalApi = createClient<paths>({ baseUrl: '/', headers: { accept: 'application/json' } });

portalApi.use({
  async onRequest({ request }) {
    const key = request.headers.get('authorization')?.replace('Bearer ', '') ?? getKey();
    const url = new URL(request.url);
    if (key !== null && roleOf(key) === 'seller') {
      url.pathname = url.pathname.replace(/^\/api\/buyer\//, '/api/seller/');
    }
    const { method, headers } = request;
    // The body is copied as text, because browsers can send a stream only over HTTP/2.
    const body = method === 'GET' ? null : await request.text();
    const sent = new Request(url, { method, headers, body: body === '' ? null : body });
    if (key !== null) {
      sent.headers.set('authorization', `Bearer ${key}`);
    }
    sent.headers.set('accept-language', language);
    return sent;
  },
  async onResponse({ response }) {
    if (response.status === 401 && getKey() !== null) {
      const { message } = (await response.clone().json()) as { message: string };
      signOut(message);
    }
  },
});
