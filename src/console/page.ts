import type { Response } from 'express';
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
