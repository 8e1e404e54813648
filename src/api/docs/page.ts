import type { Response } from 'express';
import { html, type Html } from '../../shared/html.js';
import { guideTitles } from './guides.js';

/** Scripts and styles are files of this service, and the page talks to it alone. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join('; ');

export interface DocsPage {
  title: string;
  body: Html;
  /** What was searched for. */
  query?: string;
}

export function sendDocsPage(response: Response, page: DocsPage): void {
  response
    .set('Content-Security-Policy', contentSecurityPolicy)
    .set('Cache-Control', 'public, max-age=300')
    .type('html')
    .send(render(page).html);
}

function render({ title, body, query = '' }: DocsPage): Html {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title} · Top-up and bill payment</title>
        <link rel="stylesheet" href="/docs/style.css" />
        <link rel="icon" href="data:," />
        <script src="/docs/try-it.js" defer></script>
      </head>
      <body>
        <header>
          <nav aria-label="Documentation">
            ${Object.entries(guideTitles).map(([name, text]) => html`<a href="/docs/${name}">${text}</a>`)}<a
              href="/docs/reference"
              >Reference</a
            >
          </nav>
          <form role="search" action="/docs/search">
            <input
              type="search"
              name="q"
              value="${query}"
              aria-label="Search"
              placeholder="Search"
              maxlength="100"
            />
          </form>
        </header>
        <main>${body}</main>
      </body>
    </html>`;
}
