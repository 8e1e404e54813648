/** The second step of a login: a code of the authenticator app, or its setting up. */
import type { Request, RequestHandler, Response } from 'express';
import { setRetryAfter } from '../api/set-retry-after.js';
import { httpStatusOf } from '../api/http-status.js';
import { enrol, recordEnrolledLogin, showCode } from '../operators/login.js';
import type { Operator } from '../operators/operator.model.js';
import { beginEnrolment, mustEnrol } from '../operators/second-factor.js';
import {
  csrfTokenOf,
  endLoginStep,
  loginStepIdOf,
  newBrowserToken,
  operatorOfLoginStep,
  sessionMaxMs,
  startSession,
} from '../operators/sessions.js';
import { ConflictError, RateLimitError, UnauthorizedError, type AppError } from '../shared/errors.js';
import { clearCookie, readCookie, setCookie } from './cookies.js';
import { enrolmentForm, recoveryCodes } from './enrolment.js';
import { codeField, csrfField, problem } from './form.js';
import { html } from '../shared/html.js';
import { sendPage } from './page.js';
import { fieldOf, requireCsrf } from './session.js';
import { seatOf } from './console-route.js';

const browserMs = 90 * 86_400_000;

interface Step {
  operator: Operator;
  token: string;
}

/** Logs a browser in, for who has shown everything that is asked for. A new token each time. */
export async function letIn(request: Request, response: Response, operator: Operator): Promise<void> {
  const token = await startSession(operator, seatOf(request));
  setCookie(response, 'session', token, sessionMaxMs);
  setCookie(response, 'csrf', csrfTokenOf(token), sessionMaxMs);
  setCookie(response, 'browser', newBrowserToken(operator), browserMs);
  clearCookie(response, 'login');
  clearCookie(response, 'step');
}

/** Lets a browser forget a session that has ended. */
export function letOut(response: Response): void {
  clearCookie(response, 'session');
  clearCookie(response, 'csrf');
}

export const showCodeForm: RequestHandler = async (request, response) => {
  const step = await stepOf(request);
  if (!step?.operator.totp) {
    response.redirect(303, '/admin/login');
    return;
  }
  sendCodeForm(response, step, { httpStatus: 200, message: null });
};

export const submitCode: RequestHandler = async (request, response) => {
  const step = await stepOf(request);
  if (!step?.operator.totp) {
    response.redirect(303, '/admin/login');
    return;
  }
  requireCsrf(request, step.token);
  try {
    await showCode(step.operator, fieldOf(request, 'code'), seatOf(request));
  } catch (error) {
    if (!isRefusal(error)) {
      throw error;
    }
    setRetryAfter(response, error);
    sendCodeForm(response, step, { httpStatus: httpStatusOf(error), message: error.message });
    return;
  }
  await endLoginStep(step.token);
  await letIn(request, response, step.operator);
  response.redirect(303, '/admin');
};

export const showEnrolment: RequestHandler = async (request, response) => {
  const step = await stepOf(request);
  if (!step || !mustEnrol(step.operator)) {
    response.redirect(303, '/admin/login');
    return;
  }
  await sendEnrolment(response, step, { httpStatus: 200, message: null });
};

export const submitEnrolment: RequestHandler = async (request, response) => {
  const step = await stepOf(request);
  if (!step || !mustEnrol(step.operator)) {
    response.redirect(303, '/admin/login');
    return;
  }
  requireCsrf(request, step.token);
  const { username } = step.operator;
  const seat = seatOf(request);
  const { address } = seat;
  try {
    const by = { actor: `operator:${username}`, from: address, reason: null };
    const { codes, operator } = await enrol(step.operator, fieldOf(request, 'code'), {
      shownTo: loginStepIdOf(step.token),
      by,
      seat,
    });
    await endLoginStep(step.token);
    await recordEnrolledLogin(operator, address);
    await letIn(request, response, operator);
    sendPage(response, {
      title: 'Recovery codes',
      body: html`<main class="narrow">${recoveryCodes(codes)}</main>`,
    });
  } catch (error) {
    if (!isRefusal(error)) {
      throw error;
    }
    setRetryAfter(response, error);
    await sendEnrolment(response, step, { httpStatus: httpStatusOf(error), message: error.message });
  }
};

/** What is said above a new form. */
function isRefusal(error: unknown): error is AppError {
  return [UnauthorizedError, RateLimitError, ConflictError].some((each) => error instanceof each);
}

async function stepOf(request: Request): Promise<Step | null> {
  const token = readCookie(request, 'step');
  const operator = token === null ? null : await operatorOfLoginStep(token);
  return token !== null && operator ? { operator, token } : null;
}

interface Shown {
  httpStatus: number;
  message: string | null;
}

function sendCodeForm(response: Response, { token }: Step, { httpStatus, message }: Shown): void {
  sendPage(response, {
    httpStatus,
    title: 'Second factor',
    body: html`<main class="narrow">
      <form class="card login" method="post" action="/admin/login/code">
        <h1>Second factor</h1>
        ${problem(message)} ${csrfField(csrfTokenOf(token))} ${codeField('code')}
        <button>Log in</button>
        <p class="quiet">Neither is at hand? An admin can reset it: <code>topup operator totp-reset</code></p>
      </form>
    </main>`,
  });
}

async function sendEnrolment(response: Response, { operator, token }: Step, shown: Shown): Promise<void> {
  const enrolment = await beginEnrolment(operator, loginStepIdOf(token));
  sendPage(response, {
    httpStatus: shown.httpStatus,
    title: 'Set up the second factor',
    body: html`<main class="narrow">
      ${enrolmentForm({
        enrolment,
        csrf: csrfTokenOf(token),
        message: shown.message,
      })}
    </main>`,
  });
}
