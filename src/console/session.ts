import type { CookieOptions, Request, Response, RequestHandler } from 'express';
import { env } from '../../config/env.js';
import { isGuarded } from '../../config/refused-settings.js';
import type { Operator } from '../operators/operator.model.js';
import { getCsrfToken, isCsrfToken, findOperatorBySession } from '../operators/sessions.js';
import { ForbiddenError, UnauthorizedError } from '../shared/errors.js';
import { asWritten } from '../shared/say.js';

/**
 * Cookie names.
 *
 * - session: a logged-in session.
 * - login: binds a login form to its browser.
 * - step: the password was right, and the second factor is pending.
 * - browser: this browser has logged in before.
 * - csrf: the anti-forgery token, which the queue board's script must be able to read.
 */
const cookieNames = {
  session: 'topup_admin',
  login: 'topup_login',
  step: 'topup_step',
  browser: 'topup_browser',
  csrf: 'XSRF-TOKEN',
} as const;
type CookieName = keyof typeof cookieNames;

export function setCookie(response: Response, name: CookieName, value: string, maxAgeMs: number): void {
  response.cookie(cookieNames[name], value, { ...getCookieOptions(name), maxAge: maxAgeMs });
}

export function clearCookie(response: Response, name: CookieName): void {
  response.clearCookie(cookieNames[name], getCookieOptions(name));
}

export function readCookie(request: Request, name: CookieName): string | null {
  const prefix = `${cookieNames[name]}=`;
  const found = (request.get('cookie') ?? '')
    .split(';')
    .map((each) => each.trim())
    .find((each) => each.startsWith(prefix));
  const value = found?.slice(prefix.length) ?? '';
  // All our tokens are base64url. Any other value is not ours.
  return /^[\w-]{16,200}$/.test(value) ? value : null;
}

function getCookieOptions(name: CookieName): CookieOptions {
  return {
    path: '/admin',
    sameSite: 'strict',
    httpOnly: name !== 'csrf',
    secure: isGuarded(env),
  };
}

export interface AdminSession {
  operator: Operator;
  token: string;
  csrf: string;
}

/** Finds the session of this browser, or null. */
export async function findSession(request: Request): Promise<AdminSession | null> {
  const token = readCookie(request, 'session');
  const operator = token === null ? null : await findOperatorBySession(token);
  return token !== null && operator ? { operator, token, csrf: getCsrfToken(token) } : null;
}

export function getAdminSession(response: Response): AdminSession {
  return response.locals['adminSession'] as AdminSession;
}

/** Requires a login. Page requests are redirected to the login page, and other requests get 401. */
export const requireSession: RequestHandler = async (request, response, next) => {
  if (isSafeMethod(request) && request.accepts(['json', 'html']) === 'html') {
    const session = await findSession(request);
    if (!session) {
      response.redirect(303, '/admin/login');
      return;
    }
    response.locals['adminSession'] = session;
  } else {
    await loadSession(request, response);
  }
  next();
};

/**
 * Reads the session again and stores it for the handlers that follow. `allow` calls this once more
 * after it has read the body of a change, because a slow upload may outlive the session or the
 * role.
 * @throws UnauthorizedError if the session has ended.
 */
export async function loadSession(request: Request, response: Response): Promise<void> {
  const session = await findSession(request);
  if (!session) {
    throw new UnauthorizedError(asWritten('Log in at /admin/login.'));
  }
  response.locals['adminSession'] = session;
}

/**
 * Refuses every change without the session's anti-forgery token, either in the queue board's header
 * or in a form field. Each route checks rights itself.
 */
export const guardChanges: RequestHandler = (request, response, next) => {
  if (!isSafeMethod(request)) {
    requireCsrf(request, getAdminSession(response).token);
  }
  next();
};

/**
 * Checks the anti-forgery token that belongs to the session token `token`.
 * @throws ForbiddenError if the anti-forgery token is missing or wrong.
 */
export function requireCsrf(request: Request, token: string): void {
  const receivedToken = request.get('x-xsrf-token') ?? getFormField(request, '_csrf');
  if (!isCsrfToken(token, receivedToken)) {
    throw new ForbiddenError(asWritten('This request did not come from the console. Reload the page.'));
  }
}

/** Returns a field of a form, or an empty string. */
export function getFormField(request: Request, name: string): string {
  const body = request.body as Record<string, unknown> | undefined;
  const value = body?.[name];
  return typeof value === 'string' ? value : '';
}

export function isSafeMethod(request: Request): boolean {
  return ['GET', 'HEAD', 'OPTIONS'].includes(request.method);
}
