import type { Response } from 'express';
import { html, type Html } from '../../shared/html.js';
import type { DocPage, Heading } from './doc-pages.js';
import { docsMap, getNeighbours, type MappedPage } from './docs-map.js';

/** Pages load scripts and styles only from this service, and send requests only to it. */
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

export interface ShownPage {
  title: string;
  body: Html;
  /** Path below /docs, for the sidebar. Empty: the page is not in the sidebar. */
  name?: string;
  headings?: Heading[];
}

export function sendDocsPage(response: Response, page: ShownPage): void {
  response
    .set('Content-Security-Policy', contentSecurityPolicy)
    .set('Cache-Control', 'public, max-age=300')
    .type('html')
    .send(render(page).html);
}

/** Sends a page of docs/ with links to the previous and next page. */
export function sendDocPage(response: Response, { name, title, body, headings }: DocPage): void {
  const { previous, next } = getNeighbours(name);
  const neighbours = html`<nav class="neighbours" aria-label="Previous and next page">
    ${renderNeighbour('Previous', previous)}${renderNeighbour('Next', next)}
  </nav>`;
  sendDocsPage(response, { name, title, headings, body: html`${body}${neighbours}` });
}

function renderNeighbour(label: string, page: MappedPage | null): Html | string {
  return page === null
    ? ''
    : html`<a href="/docs/${page.name}"><span class="quiet">${label}</span> ${page.title}</a>`;
}

function render({ title, body, name = '', headings = [] }: ShownPage): Html {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title} · Top-up and bill payment</title>
        <link rel="stylesheet" href="/docs/style.css" />
        <link rel="icon" href="data:," />
        <script src="/docs/search.js" defer></script>
        <script src="/docs/try-it.js" defer></script>
      </head>
      <body>
        <header>
          <a href="/docs">Documentation</a>
          <a href="/docs/reference">Calls</a>
          <a class="to-pages" href="#pages">All pages</a>
          <form role="search" action="/docs/search">
            <input type="search" name="q" aria-label="Search" placeholder="Search" maxlength="100" />
          </form>
        </header>
        <div class="columns">
          <main>${renderTableOfContents(headings)}${body}</main>
          ${renderSidebar(name)}
        </div>
      </body>
    </html>`;
}

/** Lists only second-level headings, because pages are short. */
function renderTableOfContents(headings: Heading[]): Html | string {
  const shown = headings.filter(({ depth }) => depth === 2);
  return shown.length < 2
    ? ''
    : html`<nav class="contents" aria-label="On this page">
        <strong>On this page</strong>
        <ul>
          ${shown.map(({ id, title }) => html`<li><a href="#${id}">${title}</a></li>`)}
        </ul>
      </nav>`;
}

/** Comes after the page in the document, so that phones show the page first. */
function renderSidebar(current: string): Html {
  return html`<nav id="pages" class="sidebar" aria-label="All pages">
    ${docsMap.map(
      ({ title, pages }) =>
        html`<strong>${title}</strong>
          <ul>
            ${pages.map(
              (each) =>
                html`<li>
                  <a href="/docs/${each.name}" ${each.name === current ? html`aria-current="page"` : ''}
                    >${each.title}</a
                  >
                </li>`,
            )}
          </ul>`,
    )}
  </nav>`;
}
