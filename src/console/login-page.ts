import { randomBytes } from 'node:crypto';
import type { RequestHandler, Response } from 'express';
import { httpStatusOf } from '../api/http-status.js';
import { login } from '../operators/login.js';
import { csrfTokenOf, endSession, sessionMaxMs, startSession } from '../operators/sessions.js';
import { ForbiddenError, RateLimitError, UnauthorizedError, type AppError } from '../shared/errors.js';
import { addressOf } from '../api/middleware/address.js';
import { clearCookie, readCookie, setCookie } from './cookies.js';
import { html } from './html.js';
import { sendPage } from './page.js';
import { fieldOf, findSession, requireCsrf, sessionOf } from './session.js';

const formMaxMs = 30 * 60_000;

export const showLogin: RequestHandler = async (request, response) => {
  if (await findSession(request)) {
    response.redirect(303, '/admin');
    return;
  }
  sendForm(response, { httpStatus: 200, message: null });
};

/** A wrong password shows the form again (401), too many of them too (429, Retry-After). */
export const submitLogin: RequestHandler = async (request, response) => {
  const formToken = readCookie(request, 'login');
  if (formToken === null) {
    throw new ForbiddenError('The login form is too old. Load /admin/login again.');
  }
  requireCsrf(request, formToken);
  try {
    const operator = await login({
      username: fieldOf(request, 'username'),
      password: fieldOf(request, 'password'),
      address: addressOf(request),
    });
    // A new token at each login: one that somebody planted before is worth nothing after.
    const token = await startSession(operator);
    setCookie(response, 'session', token, sessionMaxMs);
    setCookie(response, 'csrf', csrfTokenOf(token), sessionMaxMs);
    clearCookie(response, 'login');
    response.redirect(303, '/admin');
  } catch (error) {
    if (!(error instanceof UnauthorizedError || error instanceof RateLimitError)) {
      throw error;
    }
    refuse(response, error);
  }
};

export const logout: RequestHandler = async (request, response) => {
  const session = sessionOf(response);
  requireCsrf(request, session.token);
  await endSession(session.token);
  clearCookie(response, 'session');
  clearCookie(response, 'csrf');
  response.redirect(303, '/admin/login');
};

function refuse(response: Response, error: AppError): void {
  if (error.retryAfterS !== undefined) {
    response.set('Retry-After', String(error.retryAfterS));
  }
  sendForm(response, { httpStatus: httpStatusOf(error), message: error.message });
}

function sendForm(response: Response, shown: { httpStatus: number; message: string | null }): void {
  const formToken = randomBytes(32).toString('base64url');
  setCookie(response, 'login', formToken, formMaxMs);
  sendPage(response, {
    httpStatus: shown.httpStatus,
    title: 'Log in',
    body: html`<main class="narrow">
      <form class="card login" method="post" action="/admin/login">
        <h1>Top-up operator</h1>
        ${shown.message === null ? html`` : html`<p class="message" role="alert">${shown.message}</p>`}
        <input type="hidden" name="_csrf" value="${csrfTokenOf(formToken)}" />
        <label for="username">Username</label>
        <input
          id="username"
          name="username"
          autocomplete="username"
          autocapitalize="none"
          required
          autofocus
        />
        <label for="password">Password</label>
        <input id="password" name="password" type="password" autocomplete="current-password" required />
        <button>Log in</button>
      </form>
    </main>`,
  });
}
