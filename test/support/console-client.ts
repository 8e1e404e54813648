import { request } from 'undici';

export interface ConsoleAnswer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
  /** The values of the Set-Cookie headers. */
  setCookies: string[];
}

/**
 * A browser without scripts. It keeps cookies and follows no redirects. `address` is the value of
 * X-Forwarded-For.
 */
export interface ConsoleClient {
  get(path: string, headers?: Record<string, string>): Promise<ConsoleAnswer>;
  send(
    method: 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    path: string,
    body?: string,
    headers?: Record<string, string>,
  ): Promise<ConsoleAnswer>;
  /** Submits the login form. */
  login(username: string, password: string): Promise<ConsoleAnswer>;
  cookie(name: string): string | undefined;
}

export function consoleClient(baseUrl: string, address: string): ConsoleClient {
  const jar = new Map<string, string>();

  async function call(
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    path: string,
    body: string | null,
    extra: Record<string, string>,
  ) {
    const response = await request(baseUrl + path, {
      method,
      headers: {
        accept: 'text/html',
        cookie: [...jar].map(([name, value]) => `${name}=${value}`).join('; '),
        'x-forwarded-for': address,
        ...(body !== null && { 'content-type': 'application/x-www-form-urlencoded' }),
        ...extra,
      },
      body,
    });
    const setCookies = [response.headers['set-cookie'] ?? []].flat();
    setCookies.forEach((each) => storeCookie(jar, each));
    return {
      status: response.statusCode,
      headers: response.headers,
      text: await response.body.text(),
      setCookies,
    };
  }
  const get: ConsoleClient['get'] = (path, headers = {}) => call('GET', path, null, headers);
  const send: ConsoleClient['send'] = (method, path, body, headers = {}) =>
    call(method, path, body ?? null, headers);
  return {
    get,
    send,
    async login(username, password) {
      const form = await get('/admin/login');
      return send('POST', '/admin/login', fields({ username, password, _csrf: csrfIn(form.text) }));
    },
    cookie: (name) => jar.get(name),
  };
}

/** Returns the CSRF token from the form on a page. */
export function csrfIn(page: string): string {
  return /name="_csrf" value="([^"]+)"/.exec(page)?.[1] ?? '';
}

export function fields(values: Record<string, string>): string {
  return new URLSearchParams(values).toString();
}

function storeCookie(jar: Map<string, string>, setCookie: string): void {
  const [pair = ''] = setCookie.split(';');
  const [name = '', value = ''] = pair.split('=');
  if (value === '') {
    jar.delete(name);
  } else {
    jar.set(name, value);
  }
}
