/** `/admin/me`: what an operator sees and changes of their own. */
import type { Request, Response } from 'express';
import { setRetryAfter } from '../api/set-retry-after.js';
import { httpStatusOf } from '../api/http-status.js';
import { endAllSessions, setOperatorPassword } from '../operators/change-operator.js';
import { endOneSession } from '../operators/end-session.js';
import { proveOperator } from '../operators/login.js';
import { newOperatorKey } from '../operators/operator-key.js';
import type { Operator } from '../operators/operator.model.js';
import { requireOperator } from '../operators/require-operator.js';
import { isAllowed, rights, type OperatorAction } from '../operators/rights.js';
import { beginEnrolment, confirmEnrolment, replaceRecoveryCodes } from '../operators/second-factor.js';
import { csrfTokenOf, listSessions, sessionIdOf } from '../operators/sessions.js';
import { AppError, ConflictError, ValidationError } from '../shared/errors.js';
import { asWritten } from '../shared/say.js';
import { changedByOperator, seatOf, type ConsoleRoute } from './console-route.js';
import { clearCookie } from './cookies.js';
import { enrolmentForm, recoveryCodes } from './enrolment.js';
import { codeField, csrfField, problem } from './form.js';
import { html, type Html } from '../shared/html.js';
import { letIn } from './login-steps.js';
import { sendPage } from './page.js';
import { fieldOf, sessionOf } from './session.js';
import { sessionTable } from './session-table.js';

type Handler = ConsoleRoute['handle'];

export const showOwn: Handler = (_request, response) => sendOwn(response, null);

/** Ends every other session of theirs; this browser gets a new one. */
export const changeOwnPassword: Handler = proven(async (request, response, operator) => {
  const password = fieldOf(request, 'new_password');
  if (password !== fieldOf(request, 'new_password_again')) {
    const message = 'The two new passwords are not the same.';
    throw new ValidationError([{ field: 'new_password_again', message: asWritten(message) }]);
  }
  const changed = await setOperatorPassword(
    operator.username,
    password,
    changedByOperator(request, response),
  );
  await letIn(request, response, changed);
  response.redirect(303, '/admin/me');
});

export const beginOwnTotp: Handler = proven(async (_request, response, operator) => {
  await sendEnrolment(response, operator, { httpStatus: 200, message: null });
});

export const confirmOwnTotp: Handler = async (request, response) => {
  const { operator } = sessionOf(response);
  const by = changedByOperator(request, response);
  try {
    const codes = await confirmEnrolment(operator, fieldOf(request, 'code'), by);
    const token = await letIn(request, response, await requireOperator(operator.username));
    sendPage(response, {
      title: 'Recovery codes',
      session: { operator, csrf: csrfTokenOf(token) },
      body: html`<main class="narrow">${recoveryCodes(codes)}</main>`,
    });
  } catch (error) {
    if (!(error instanceof AppError) || error instanceof ConflictError) {
      throw error;
    }
    await sendEnrolment(response, operator, { httpStatus: httpStatusOf(error), message: error.message });
  }
};

export const makeRecoveryCodes: Handler = proven(async (request, response, operator) => {
  const codes = await replaceRecoveryCodes(operator, changedByOperator(request, response));
  sendPage(response, {
    title: 'Recovery codes',
    session: sessionOf(response),
    body: html`<main class="narrow">${recoveryCodes(codes)}</main>`,
  });
});

export const makeOwnKey: Handler = proven(async (request, response, operator) => {
  const key = await newOperatorKey(operator, changedByOperator(request, response));
  sendPage(response, {
    title: 'Operator key',
    session: sessionOf(response),
    body: html`<main class="narrow">
      <div class="card">
        <h1>Operator key</h1>
        <p><strong>It is shown this once.</strong> The one before it is worth nothing from now on.</p>
        <p><code>${key}</code></p>
        <p>
          Put it into a file that only you can read (<code>chmod 600</code>) and name the file in
          <code>TOPUP_OPERATOR_KEY_FILE</code>, or set <code>TOPUP_OPERATOR_KEY</code>.
        </p>
        <p><a href="/admin/me">Back</a></p>
      </div>
    </main>`,
  });
});

export const endOwnSession: Handler = async (request, response) => {
  const { operator } = sessionOf(response);
  await endOneSession(operator, fieldOf(request, 'session'), changedByOperator(request, response));
  response.redirect(303, '/admin/me');
};

export const endOwnSessions: Handler = async (request, response) => {
  const { operator } = sessionOf(response);
  await endAllSessions(operator.username, changedByOperator(request, response));
  clearCookie(response, 'session');
  clearCookie(response, 'csrf');
  response.redirect(303, '/admin/login');
};

/** A form that asks for the password, and a code where there is a second factor: a borrowed browser changes nothing. */
function proven(
  change: (request: Request, response: Response, operator: Operator) => Promise<void>,
): Handler {
  return async (request, response) => {
    const { operator } = sessionOf(response);
    try {
      const proof = { password: fieldOf(request, 'password'), code: fieldOf(request, 'code') };
      await proveOperator(operator, proof, seatOf(request));
      await change(request, response, operator);
    } catch (error) {
      if (!(error instanceof AppError)) {
        throw error;
      }
      setRetryAfter(response, error);
      await sendOwn(response, error);
    }
  };
}

async function sendOwn(response: Response, error: AppError | null): Promise<void> {
  const { operator, csrf, token } = sessionOf(response);
  const sessions = await listSessions(operator);
  sendPage(response, {
    httpStatus: error ? httpStatusOf(error) : 200,
    title: 'Your account',
    session: { operator, csrf },
    body: html`<main>
      <h1>Your account</h1>
      ${problem(error?.message ?? null)}
      <h2>Sessions</h2>
      ${sessionTable(sessions, { csrf, action: '/admin/me/sessions/end', own: sessionIdOf(token) })}
      <form method="post" action="/admin/me/sessions/end-all">
        ${csrfField(csrf)}<button class="plain">End all, and log in again</button>
      </form>
      <div class="forms">
        ${passwordForm(operator, csrf)} ${totpForms(operator, csrf)} ${keyForm(operator, csrf)}
      </div>
      <h2>What you may do</h2>
      <p>As <strong>${operator.role}</strong>, here and on the command line:</p>
      <ul>
        ${actions.filter((each) => isAllowed(operator.role, each)).map((each) => html`<li>${rights[each].does}</li>`)}
      </ul>
    </main>`,
  });
}

const actions = Object.keys(rights) as OperatorAction[];

function passwordForm(operator: Operator, csrf: string): Html {
  return html`<form class="card" method="post" action="/admin/me/password">
    <h2>Change the password</h2>
    <p class="quiet">12 characters or more. Every other session of yours ends.</p>
    ${csrfField(csrf)}
    <label for="new-password">New password</label>
    <input
      id="new-password"
      name="new_password"
      type="password"
      autocomplete="new-password"
      minlength="12"
      maxlength="200"
      required
    />
    <label for="new-password-again">New password, again</label>
    <input
      id="new-password-again"
      name="new_password_again"
      type="password"
      autocomplete="new-password"
      maxlength="200"
      required
    />
    ${proofFields(operator, 'password')}
    <button>Change</button>
  </form>`;
}

function totpForms(operator: Operator, csrf: string): Html {
  const left = operator.recoveryHashes?.length ?? 0;
  return html`<form class="card" method="post" action="/admin/me/totp">
      <h2>Second factor</h2>
      <p class="quiet">
        ${
          operator.totp
            ? `Set up since ${operator.totp.since.toISOString().slice(0, 10)}. Another app takes its place.`
            : 'Not set up: the password alone logs you in.'
        }
        Setting it up ends every other session.
      </p>
      ${csrfField(csrf)} ${proofFields(operator, 'totp')}
      <button>${operator.totp ? 'Set up another app' : 'Set up'}</button>
    </form>
    ${
      operator.totp
        ? html`<form class="card" method="post" action="/admin/me/recovery-codes">
            <h2>Recovery codes</h2>
            <p class="quiet">${left} of 10 are left. New ones take the place of those.</p>
            ${csrfField(csrf)} ${proofFields(operator, 'recovery')}
            <button>Make new ones</button>
          </form>`
        : html``
    }`;
}

function keyForm(operator: Operator, csrf: string): Html {
  const made = operator.keyHash ? operator.keyCreatedAt : null;
  return html`<form class="card" method="post" action="/admin/me/key">
    <h2>Key for the command line</h2>
    <p class="quiet">
      ${made ? `Made ${made.toISOString().slice(0, 10)}. A new one takes its place.` : 'You have none yet.'}
    </p>
    ${csrfField(csrf)} ${proofFields(operator, 'key')}
    <button>Make a key</button>
  </form>`;
}

function proofFields(operator: Operator, form: string): Html {
  return html`<label for="${form}-now">Your password now</label>
    <input
      id="${form}-now"
      name="password"
      type="password"
      autocomplete="current-password"
      maxlength="200"
      required
    />
    ${operator.totp ? codeField(`${form}-code`) : html``}`;
}

async function sendEnrolment(
  response: Response,
  operator: Operator,
  shown: { httpStatus: number; message: string | null },
): Promise<void> {
  const { csrf } = sessionOf(response);
  const enrolment = await beginEnrolment(operator);
  sendPage(response, {
    httpStatus: shown.httpStatus,
    title: 'Set up the second factor',
    session: { operator, csrf },
    body: html`<main class="narrow">
      ${enrolmentForm({ enrolment, action: '/admin/me/totp/confirm', csrf, message: shown.message })}
    </main>`,
  });
}
