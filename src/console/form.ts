import { html, type Html } from '../shared/html.js';

/** The hidden field that every form carries. */
export function renderCsrfField(csrf: string): Html {
  return html`<input type="hidden" name="_csrf" value="${csrf}" />`;
}

/** What went wrong with a form, read out by screen readers; nothing where nothing did. */
export function renderProblem(message: string | null): Html {
  return message === null ? html`` : html`<p class="message" role="alert">${message}</p>`;
}

/** A field for a code of an authenticator app. */
export function renderCodeField(
  id: string,
  label = 'Code of your authenticator app, or a recovery code',
): Html {
  return html`<label for="${id}">${label}</label>
    <input
      id="${id}"
      name="code"
      autocomplete="one-time-code"
      autocapitalize="characters"
      spellcheck="false"
      maxlength="40"
      required
    />`;
}
