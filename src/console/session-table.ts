import type { ListedSession } from '../operators/sessions.js';
import { csrfField } from './form.js';
import { html, type Html } from '../shared/html.js';

/** Sessions with a button that ends each. `own` is the one that looks at them. */
export function sessionTable(
  sessions: ListedSession[],
  { csrf, action, username, own }: { csrf: string; action: string; username?: string; own?: string },
): Html {
  if (sessions.length === 0) {
    return html`<p class="quiet">No session.</p>`;
  }
  const rows = sessions.map(
    ({ id, startedAt, address, browser }) =>
      html`<tr>
        <td>${startedAt.toISOString().slice(0, 16).replace('T', ' ')} UTC</td>
        <td>${address === '' ? 'unknown' : address}</td>
        <td>
          ${browser === '' ? 'unknown' : browser}${id === own ? html` <strong>(this one)</strong>` : html``}
        </td>
        <td>
          <form method="post" action="${action}">
            ${csrfField(csrf)}
            ${username === undefined ? html`` : html`<input type="hidden" name="username" value="${username}" />`}
            <input type="hidden" name="session" value="${id}" />
            <button class="plain">End</button>
          </form>
        </td>
      </tr>`,
  );
  return html`<div class="scroll">
    <table class="sessions">
      <thead>
        <tr>
          <th>since</th>
          <th>address</th>
          <th>browser</th>
          <th></th>
        </tr>
      </thead>
      <tbody>
        ${rows}
      </tbody>
    </table>
  </div>`;
}
