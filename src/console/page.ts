import type { Response } from 'express';
import type { Operator } from '../operators/operator.model.js';
import { isAllowed } from '../operators/rights.js';
import { csrfField } from './form.js';
import { html, type Html } from '../shared/html.js';

/** Nothing but our own stylesheet; no script at all. */
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
  /** Who is logged in, with the anti-forgery token of the session. */
  session?: { operator: Operator; csrf: string };
}

export function sendPage(response: Response, page: Page): void {
  response
    .status(page.httpStatus ?? 200)
    .set('Content-Security-Policy', contentSecurityPolicy)
    .type('html')
    .send(render(page).html);
}

function render({ title, body, session }: Page): Html {
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
        ${session ? navigation(session) : html``} ${body}
      </body>
    </html> `;
}

function navigation({ operator, csrf }: { operator: Operator; csrf: string }): Html {
  return html`<header>
    <strong>Top-up operator</strong>
    <nav>
      <a href="/admin">Start</a> <a href="/admin/purchases">Purchases</a> <a href="/admin/cases">Cases</a>
      <a href="/admin/accounts">Accounts</a> <a href="/admin/queues">Queues</a>
      ${isAllowed(operator.role, 'operator.look') ? html`<a href="/admin/operators">Operators</a>` : html``}
    </nav>
    <a href="/admin/me">${operator.username} (${operator.role})</a>
    <form method="post" action="/admin/logout">
      ${csrfField(csrf)}
      <button class="plain">Log out</button>
    </form>
  </header>`;
}
