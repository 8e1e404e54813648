/** A logged-in operator with the cookies and keep-alive connections of a browser. */
import { Agent, request } from 'undici';
import { requireTrue } from './print.js';

export interface TimedResponse {
  status: number;
  /** Milliseconds from the request to the last byte of the response. */
  ms: number;
  /** Milliseconds until the headers of the response. */
  firstMs: number;
  text: string;
  /** Size of the body as received. */
  bytes: number;
}

export interface ConsoleSession {
  /** @param path Path below /admin. */
  get(path: string): Promise<TimedResponse>;
  close(): Promise<void>;
}

export async function logIn(
  url: string,
  { username, password }: { username: string; password: string },
): Promise<ConsoleSession> {
  const dispatcher = new Agent({ bodyTimeout: 0, headersTimeout: 0 });
  const jar = new Map<string, string>();
  const call = async (path: string, form?: Record<string, string>): Promise<TimedResponse> => {
    const startedMs = performance.now();
    const { statusCode, headers, body } = await request(`${url}/admin${path}`, {
      dispatcher,
      method: form ? 'POST' : 'GET',
      headers: {
        cookie: [...jar].map(([name, value]) => `${name}=${value}`).join('; '),
        ...(form && { 'content-type': 'application/x-www-form-urlencoded' }),
      },
      ...(form && { body: new URLSearchParams(form).toString() }),
    });
    const firstMs = performance.now() - startedMs;
    const content = Buffer.from(await body.arrayBuffer());
    const ms = performance.now() - startedMs;
    for (const cookie of [headers['set-cookie'] ?? []].flat()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      jar.set(name, value);
    }
    return { status: statusCode, ms, firstMs, text: content.toString(), bytes: content.length };
  };
  const page = await call('/login');
  const csrf = /name="_csrf" value="([^"]+)"/.exec(page.text)?.[1] ?? '';
  const { status } = await call('/login', { username, password, _csrf: csrf });
  requireTrue(status === 303 && jar.has('topup_admin'), `the login returned ${status}`);
  return { get: call, close: () => dispatcher.close() };
}
