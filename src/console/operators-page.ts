/** `/admin/operators`: who may log in, and from where they are. People are created by `topup operator create`. */
import type { Request, Response } from 'express';
import { endAllSessions, setOperatorRole } from '../operators/change-operator.js';
import { listOperators } from '../operators/create-operator.js';
import { endOneSession } from '../operators/end-session.js';
import type { Operator } from '../operators/operator.model.js';
import { requireOperator } from '../operators/require-operator.js';
import { operatorRoles, type OperatorRole } from '../operators/rights.js';
import { resetSecondFactor } from '../operators/second-factor.js';
import { listSessions, type ListedSession } from '../operators/sessions.js';
import { ValidationError } from '../shared/errors.js';
import { asWritten } from '../shared/say.js';
import { changedByOperator, type ConsoleRoute } from './console-route.js';
import { csrfField } from './form.js';
import { html, type Html } from '../shared/html.js';
import { sendPage } from './page.js';
import { fieldOf, sessionOf } from './session.js';
import { sessionTable } from './session-table.js';

type Handler = ConsoleRoute['handle'];

export const showOperators: Handler = async (_request, response) => {
  const { operator, csrf } = sessionOf(response);
  const operators = await listOperators();
  const sessions = await Promise.all(operators.map(listSessions));
  sendPage(response, {
    title: 'Operators',
    session: { operator, csrf },
    body: html`<main>
      <h1>Operators</h1>
      <p class="quiet">Create one: <code>npm run topup -- operator create &lt;username&gt; --role …</code></p>
      ${operators.map((each, index) => card(each, sessions[index] ?? [], csrf))}
    </main>`,
  });
};

export const endOthersSessions: Handler = async (request, response) => {
  const other = await named(request);
  const by = changedByOperator(request, response);
  const session = fieldOf(request, 'session');
  if (session === '') {
    await endAllSessions(other.username, by);
  } else {
    await endOneSession(other, session, by);
  }
  back(response);
};

export const setRole: Handler = async (request, response) => {
  const other = await named(request);
  const role = operatorRoles.find((each) => each === fieldOf(request, 'role'));
  if (!role) {
    throw new ValidationError([
      { field: 'role', message: asWritten(`role is one of ${operatorRoles.join(', ')}`) },
    ]);
  }
  await setOperatorRole(other.username, role, changedByOperator(request, response, reasonOf(request)));
  back(response);
};

export const resetTotp: Handler = async (request, response) => {
  await resetSecondFactor(await named(request), changedByOperator(request, response, reasonOf(request)));
  back(response);
};

async function named(request: Request): Promise<Operator> {
  return requireOperator(fieldOf(request, 'username'));
}

/** @throws ValidationError without one: whoever reads the audit log has to know. */
function reasonOf(request: Request): string {
  const reason = fieldOf(request, 'reason').trim();
  if (reason === '' || reason.length > 500) {
    throw new ValidationError([
      { field: 'reason', message: asWritten('reason says why, in 1 to 500 characters') },
    ]);
  }
  return reason;
}

function back(response: Response): void {
  response.redirect(303, '/admin/operators');
}

function card(operator: Operator, sessions: ListedSession[], csrf: string): Html {
  const { username, role, totp, keyHash } = operator;
  const facts = `${role}, second factor ${totp ? 'set up' : 'not set up'}, ${keyHash ? 'has' : 'has no'} key for the command line`;
  const fields = html`${csrfField(csrf)}<input type="hidden" name="username" value="${username}" />`;
  return html`<section class="card operator">
    <h2>${username}</h2>
    <p class="quiet">${facts}</p>
    ${sessionTable(sessions, { csrf, action: '/admin/operators/end-sessions', username })}
    <div class="row">
      <form method="post" action="/admin/operators/end-sessions">
        ${fields}<button class="plain">End all sessions</button>
      </form>
    </div>
    <details>
      <summary>Role and second factor</summary>
      <form method="post" action="/admin/operators/role">
        ${fields}
        <label for="role-${username}">Role</label>
        <select id="role-${username}" name="role">
          ${operatorRoles.map((each) => option(each, role))}
        </select>
        ${reasonField(`role-reason-${username}`)}
        <button>Set the role, and end all sessions</button>
      </form>
      <form method="post" action="/admin/operators/totp-reset">
        ${fields} ${reasonField(`totp-reason-${username}`)}
        <button>Take the second factor away, and end all sessions</button>
      </form>
    </details>
  </section>`;
}

function option(role: OperatorRole, current: OperatorRole): Html {
  return role === current ? html`<option selected>${role}</option>` : html`<option>${role}</option>`;
}

function reasonField(id: string): Html {
  return html`<label for="${id}">Reason</label> <input id="${id}" name="reason" maxlength="500" required />`;
}
