import { renderSVG } from 'uqr';
import { type Enrolment, beginEnrolment, mustEnrol } from '../operators/second-factor.js';
import { renderCodeField, renderCsrfField, renderProblem, sendPage } from './page.js';
import { html, type Html } from '../shared/html.js';
import type { Request, RequestHandler, Response } from 'express';
import { setRetryAfter, getHttpStatus } from '../api/http/http-status.js';
import { enrol, recordEnrolledLogin, completeWithCode } from '../operators/login.js';
import type { Operator } from '../operators/operator.model.js';
import {
  getCsrfToken,
  endLoginStep,
  getLoginStepId,
  createBrowserToken,
  findOperatorByLoginStep,
  sessionMaxMs,
  startSession,
} from '../operators/sessions.js';
import { ConflictError, RateLimitError, UnauthorizedError, type AppError } from '../shared/errors.js';
import { clearCookie, readCookie, setCookie, getFormField, requireCsrf } from './session.js';
import { getRequestClient } from './console-route.js';

/** Renders the form that shows the TOTP secret and asks for a code. */
export function renderEnrolmentForm(form: {
  enrolment: Enrolment;
  csrf: string;
  message: string | null;
}): Html {
  const { enrolment, csrf, message } = form;
  // Safe to embed: the SVG contains only rectangles, no user input.
  const picture: Html = { html: renderSVG(enrolment.uri, { border: 2 }) };
  return html`<form class="card login" method="post" action="/admin/login/enrol">
    <h1>Set up the second factor</h1>
    ${renderProblem(message)}
    <p>Scan this with an authenticator app, or type in the key. Then enter the code that it shows.</p>
    <div class="qr" role="img" aria-label="QR code of the key below">${picture}</div>
    <p class="quiet">Key: <code>${enrolment.secret.match(/.{1,4}/g)?.join(' ') ?? ''}</code></p>
    ${renderCsrfField(csrf)} ${renderCodeField('code', 'Code of the app')}
    <button>Confirm</button>
  </form>`;
}

/** Renders the recovery codes. Only their hashes are stored, so they can never be shown again. */
export function renderRecoveryCodes(codes: string[]): Html {
  return html`<div class="card">
    <h1>Recovery codes</h1>
    <p>
      <strong>They are shown only once.</strong> Each one logs you in once if you lose the app. Do not keep
      them on the phone.
    </p>
    <ul class="codes">
      ${codes.map((code) => html`<li><code>${code}</code></li>`)}
    </ul>
    <p><a href="/admin">I have saved them. Continue to the console</a></p>
  </div>`;
}

const knownBrowserMs = 90 * 86_400_000;

interface LoginStep {
  operator: Operator;
  token: string;
}

/**
 * Starts a session with a new token and sets its cookies. Call it only after all factors are
 * verified.
 */
export async function completeLogin(request: Request, response: Response, operator: Operator): Promise<void> {
  const token = await startSession(operator, getRequestClient(request));
  setCookie(response, 'session', token, sessionMaxMs);
  setCookie(response, 'csrf', getCsrfToken(token), sessionMaxMs);
  setCookie(response, 'browser', createBrowserToken(operator), knownBrowserMs);
  clearCookie(response, 'login');
  clearCookie(response, 'step');
}

/** Clears the session cookies of a browser. */
export function clearSessionCookies(response: Response): void {
  clearCookie(response, 'session');
  clearCookie(response, 'csrf');
}

export const showCodeForm: RequestHandler = async (request, response) => {
  const step = await findLoginStep(request);
  if (!step?.operator.totp) {
    response.redirect(303, '/admin/login');
    return;
  }
  sendCodeForm(response, step, { httpStatus: 200, message: null });
};

export const submitCode: RequestHandler = async (request, response) => {
  const step = await findLoginStep(request);
  if (!step?.operator.totp) {
    response.redirect(303, '/admin/login');
    return;
  }
  requireCsrf(request, step.token);
  try {
    await completeWithCode(step.operator, getFormField(request, 'code'), getRequestClient(request));
  } catch (error) {
    if (!isRefusal(error)) {
      throw error;
    }
    setRetryAfter(response, error);
    sendCodeForm(response, step, { httpStatus: getHttpStatus(error), message: error.message });
    return;
  }
  await endLoginStep(step.token);
  await completeLogin(request, response, step.operator);
  response.redirect(303, '/admin');
};

export const showEnrolment: RequestHandler = async (request, response) => {
  const step = await findLoginStep(request);
  if (!step || !mustEnrol(step.operator)) {
    response.redirect(303, '/admin/login');
    return;
  }
  await sendEnrolment(response, step, { httpStatus: 200, message: null });
};

export const submitEnrolment: RequestHandler = async (request, response) => {
  const step = await findLoginStep(request);
  if (!step || !mustEnrol(step.operator)) {
    response.redirect(303, '/admin/login');
    return;
  }
  requireCsrf(request, step.token);
  const { username } = step.operator;
  const client = getRequestClient(request);
  const { address } = client;
  try {
    const by = { actor: `operator:${username}`, from: address, reason: null };
    const { codes, operator } = await enrol(step.operator, getFormField(request, 'code'), {
      shownTo: getLoginStepId(step.token),
      by,
      seat: client,
    });
    await endLoginStep(step.token);
    await recordEnrolledLogin(operator, address);
    await completeLogin(request, response, operator);
    sendPage(response, {
      title: 'Recovery codes',
      body: html`<main class="narrow">${renderRecoveryCodes(codes)}</main>`,
    });
  } catch (error) {
    if (!isRefusal(error)) {
      throw error;
    }
    setRetryAfter(response, error);
    await sendEnrolment(response, step, { httpStatus: getHttpStatus(error), message: error.message });
  }
};

/** True for errors that the form shows as a message. */
function isRefusal(error: unknown): error is AppError {
  return [UnauthorizedError, RateLimitError, ConflictError].some((each) => error instanceof each);
}

async function findLoginStep(request: Request): Promise<LoginStep | null> {
  const token = readCookie(request, 'step');
  const operator = token === null ? null : await findOperatorByLoginStep(token);
  return token !== null && operator ? { operator, token } : null;
}

interface FormStatus {
  httpStatus: number;
  message: string | null;
}

function sendCodeForm(response: Response, { token }: LoginStep, { httpStatus, message }: FormStatus): void {
  sendPage(response, {
    httpStatus,
    title: 'Second factor',
    body: html`<main class="narrow">
      <form class="card login" method="post" action="/admin/login/code">
        <h1>Second factor</h1>
        ${renderProblem(message)} ${renderCsrfField(getCsrfToken(token))} ${renderCodeField('code')}
        <button>Log in</button>
        <p class="quiet">You have neither? An admin can reset it: <code>topup operator totp-reset</code></p>
      </form>
    </main>`,
  });
}

async function sendEnrolment(
  response: Response,
  { operator, token }: LoginStep,
  shown: FormStatus,
): Promise<void> {
  const enrolment = await beginEnrolment(operator, getLoginStepId(token));
  sendPage(response, {
    httpStatus: shown.httpStatus,
    title: 'Set up the second factor',
    body: html`<main class="narrow">
      ${renderEnrolmentForm({
        enrolment,
        csrf: getCsrfToken(token),
        message: shown.message,
      })}
    </main>`,
  });
}
