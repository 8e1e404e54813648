import { randomBytes } from 'node:crypto';
import type { RequestHandler, Response } from 'express';
import { setRetryAfter, getHttpStatus } from '../api/http/http-status.js';
import { login } from '../operators/login.js';
import { getCsrfToken, endSession, loginStepMs, startLoginStep } from '../operators/sessions.js';
import { ForbiddenError, RateLimitError, UnauthorizedError, type AppError } from '../shared/errors.js';
import { asWritten } from '../shared/say.js';
import { getRequestClient, type ConsoleRoute } from './console-route.js';
import {
  clearCookie,
  readCookie,
  setCookie,
  getFormField,
  findSession,
  requireCsrf,
  getAdminSession,
} from './session.js';
import { renderCsrfField, renderProblem, sendPage } from './page.js';
import { html } from '../shared/html.js';
import { completeLogin, clearSessionCookies } from './login-steps.js';

const formMaxMs = 30 * 60_000;

export const showLogin: RequestHandler = async (request, response) => {
  if (await findSession(request)) {
    response.redirect(303, '/admin');
    return;
  }
  sendForm(response, { httpStatus: 200, message: null });
};

/**
 * Handles the login form. After a wrong password (401) or too many attempts (429, Retry-After), the
 * form is shown again.
 */
export const submitLogin: RequestHandler = async (request, response) => {
  const formToken = readCookie(request, 'login');
  if (formToken === null) {
    throw new ForbiddenError(asWritten('The login form has expired. Reload /admin/login.'));
  }
  requireCsrf(request, formToken);
  const client = getRequestClient(request);
  try {
    const { operator, next } = await login({
      ...client,
      username: getFormField(request, 'username'),
      password: getFormField(request, 'password'),
      mark: readCookie(request, 'browser'),
    });
    if (next === 'session') {
      await completeLogin(request, response, operator);
      response.redirect(303, '/admin');
      return;
    }
    setCookie(response, 'step', await startLoginStep(operator, client), loginStepMs);
    clearCookie(response, 'login');
    response.redirect(303, next === 'code' ? '/admin/login/code' : '/admin/login/enrol');
  } catch (error) {
    if (!(error instanceof UnauthorizedError || error instanceof RateLimitError)) {
      throw error;
    }
    sendRefusal(response, error);
  }
};

export const logout: ConsoleRoute['handle'] = async (_request, response) => {
  const session = getAdminSession(response);
  await endSession(session.token);
  clearSessionCookies(response);
  response.redirect(303, '/admin/login');
};

function sendRefusal(response: Response, error: AppError): void {
  setRetryAfter(response, error);
  sendForm(response, { httpStatus: getHttpStatus(error), message: error.message });
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
        ${renderProblem(shown.message)} ${renderCsrfField(getCsrfToken(formToken))}
        <label for="username">Username</label>
        <input
          id="username"
          name="username"
          autocomplete="username"
          autocapitalize="none"
          maxlength="40"
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
