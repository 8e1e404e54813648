import { html, type Html } from '../../shared/html.js';
import { guides } from './guides.js';
import { calls } from './reference.js';

interface Found {
  address: string;
  title: string;
  where: string;
  text: string;
}

const foundMax = 40;

/** Calls and sections of the guides in which every word is found, those with it in their title first. */
export function searchPage(query: string): Html {
  const words = query
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  const found = words.length === 0 ? [] : matches(words);
  return html`<h1>Search</h1>
    <p>
      ${found.length === 0 ? 'Nothing was found.' : `${found.length === foundMax ? 'The first ' : ''}${found.length} found.`}
    </p>
    <ul class="calls">
      ${found.map(
        ({ address, title, where, text }) =>
          html`<li>
            <a href="${address}">${title}</a> <span class="quiet">${where}</span>
            <div class="quiet">${text.slice(0, 160)}</div>
          </li>`,
      )}
    </ul>`;
}

function matches(words: string[]): Found[] {
  const has = (text: string) => words.every((word) => text.toLowerCase().includes(word));
  const all = everything();
  const byTitle = all.filter(({ title, where }) => has(`${title} ${where}`));
  const byText = all.filter(
    (each) => !byTitle.includes(each) && has(`${each.title} ${each.where} ${each.text}`),
  );
  return [...byTitle, ...byText].slice(0, foundMax);
}

let known: Found[] | null = null;

function everything(): Found[] {
  known ??= [
    ...calls().map(({ method, path, operation }) => ({
      address: `/docs/reference/${operation.operationId}`,
      title: operation.summary,
      where: `${method} ${path}`,
      text: operation.description ?? '',
    })),
    ...guides().flatMap(({ name, title, sections }) =>
      sections.map((each) => ({
        address: `/docs/${name}#${each.id}`,
        title: each.title,
        where: title,
        text: each.text,
      })),
    ),
  ];
  return known;
}
