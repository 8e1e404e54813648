import { html, type Html } from '../../shared/html.js';
import { listDocPages } from './doc-pages.js';
import { listCalls } from './reference.js';

/** A call or a section of a page. search.js reads this form. */
interface SearchEntry {
  address: string;
  title: string;
  where: string;
  text: string;
}

const textCharactersMax = 2_000;

let cachedIndex: string | null = null;

/** Returns the search index as JSON. The browser searches it. */
export function getSearchIndex(): string {
  cachedIndex ??= JSON.stringify([...buildCallEntries(), ...buildSectionEntries()]);
  return cachedIndex;
}

function buildCallEntries(): SearchEntry[] {
  return listCalls().map(({ method, path, operation }) => ({
    address: `/docs/reference/${operation.operationId}`,
    title: operation.summary,
    where: `${method} ${path}`,
    text: operation.description ?? '',
  }));
}

function buildSectionEntries(): SearchEntry[] {
  return listDocPages().flatMap(({ name, title, headings, texts }) =>
    headings.map((each, index) => ({
      address: each.depth === 1 ? `/docs/${name}` : `/docs/${name}#${each.id}`,
      title: each.title,
      where: title,
      text: (texts[index] ?? '').slice(0, textCharactersMax),
    })),
  );
}

export const searchPage: Html = html`<h1>Search</h1>
  <p id="search-count">The search needs JavaScript. All pages are listed below.</p>
  <ul id="search-results" class="calls"></ul>`;
