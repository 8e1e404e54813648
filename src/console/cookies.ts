import type { CookieOptions, Request, Response } from 'express';
import { env } from '../../config/env.js';
import { isGuarded } from '../../config/refused-settings.js';

/**
 * session: who is logged in. login: ties a login form to its browser. step: the password was right. browser: has logged
 * in before. csrf: readable, for the queue board's script.
 */
const names = {
  session: 'topup_admin',
  login: 'topup_login',
  step: 'topup_step',
  browser: 'topup_browser',
  csrf: 'XSRF-TOKEN',
} as const;
type CookieName = keyof typeof names;

export function setCookie(response: Response, name: CookieName, value: string, maxAgeMs: number): void {
  response.cookie(names[name], value, { ...getCookieOptions(name), maxAge: maxAgeMs });
}

export function clearCookie(response: Response, name: CookieName): void {
  response.clearCookie(names[name], getCookieOptions(name));
}

export function readCookie(request: Request, name: CookieName): string | null {
  const prefix = `${names[name]}=`;
  const found = (request.get('cookie') ?? '')
    .split(';')
    .map((each) => each.trim())
    .find((each) => each.startsWith(prefix));
  const value = found?.slice(prefix.length) ?? '';
  // All of ours are base64url; anything else is not from us.
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
