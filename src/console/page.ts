import type { Response } from 'express';
import { html, type Html } from '../shared/html.js';

/**
 * Stylesheet of the server-rendered pages (login). The pages load no font, image or script from
 * elsewhere.
 */
export const adminStyle = `
:root { color-scheme: light dark; --ink: #1d2733; --quiet: #5c6b7a; --paper: #f5f7f9; --card: #fff; --line: #dce2e8;
  --accent: #0b6e6e; --alarm: #b3261e; --alarm-paper: #fdecea; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e9ee; --quiet: #9aa8b5; --paper: #14191f; --card: #1c232b;
  --line: #303a45; --accent: #4fc3c3; --alarm: #ff8a80; --alarm-paper: #3a1f1d; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
main { max-width: 64rem; margin: 1.5rem auto; padding: 0 1.5rem; }
main.narrow { max-width: 24rem; margin-top: 12vh; }
h1 { font-size: 1.35rem; margin: 0 0 1rem; }
a { color: var(--accent); }
.card { background: var(--card); border: 1px solid var(--line); border-radius: .5rem; padding: 1.25rem; }
.quiet { color: var(--quiet); }
label { display: block; margin: .75rem 0 .25rem; font-weight: 600; }
input { width: 100%; padding: .55rem .65rem; font: inherit; color: inherit; background: var(--paper); border: 1px solid var(--line); border-radius: .35rem; }
button { padding: .5rem .9rem; font: inherit; font-weight: 600; color: var(--card); background: var(--accent); border: 0; border-radius: .35rem; cursor: pointer; }
form.login button { width: 100%; margin-top: 1.25rem; }
form button { margin-top: 1rem; }
.qr { max-width: 15rem; margin: 1rem auto; }
.qr svg { display: block; width: 100%; height: auto; }
.codes { padding-left: 1.25rem; }
@media (max-width: 30rem) { main { padding: 0 1rem; } main.narrow { margin-top: 1.5rem; } }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; }
.message { margin: 0 0 1rem; padding: .6rem .8rem; border-radius: .35rem; color: var(--alarm); background: var(--alarm-paper); }
code { font: .85rem/1.4 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; overflow-wrap: anywhere; }
`;

/** Allows our own stylesheet and no script. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "style-src 'self'",
  "img-src 'self' data:",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join('; ');

export interface Page {
  httpStatus?: number;
  title: string;
  body: Html;
}

export function sendPage(response: Response, page: Page): void {
  response
    .status(page.httpStatus ?? 200)
    .set('Content-Security-Policy', contentSecurityPolicy)
    .type('html')
    .send(render(page).html);
}

function render({ title, body }: Page): Html {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <title>${title} · Top-up operator</title>
        <link rel="icon" href="data:," />
        <link rel="stylesheet" href="/admin/style.css" />
      </head>
      <body>
        ${body}
      </body>
    </html> `;
}

/** Renders the hidden field with the anti-forgery token. Every form needs it. */
export function renderCsrfField(csrf: string): Html {
  return html`<input type="hidden" name="_csrf" value="${csrf}" />`;
}

/** Renders the error message of a form, announced by screen readers. Empty for null. */
export function renderProblem(message: string | null): Html {
  return message === null ? html`` : html`<p class="message" role="alert">${message}</p>`;
}

/** Renders the input for a code of an authenticator app. */
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
