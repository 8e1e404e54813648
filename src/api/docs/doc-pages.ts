/** The pages of docs/ as HTML, each rendered once. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Marked } from 'marked';
import { projectRoot } from '../../../config/project-file.js';
import { html, type Html } from '../../shared/html.js';
import { findClientFileUrl } from './client-files.js';
import { docsMap, findMappedPage } from './docs-map.js';
import { getServiceUrl, insertServiceUrl } from './service-url.js';

export interface Heading {
  id: string;
  title: string;
  depth: number;
}

export interface DocPage {
  name: string;
  title: string;
  body: Html;
  headings: Heading[];
  /** Plain text below each heading, for the search. */
  texts: string[];
}

/** The docs map, which /docs shows first. */
const mapName = 'README';
const renderedPages = new Map<string, DocPage>();

/**
 * Returns a rendered page. Null if the map does not list it.
 * @param name Path in the docs map.
 */
export function findDocPage(name: string): DocPage | null {
  const title = findMappedPage(name)?.title;
  return title === undefined ? null : getRenderedPage(name, title);
}

export const getMapPage = (): DocPage => getRenderedPage(mapName, 'Documentation');

export const listDocPages = (): DocPage[] =>
  docsMap.flatMap(({ pages }) => pages.map(({ name, title }) => getRenderedPage(name, title)));

function getRenderedPage(name: string, title: string): DocPage {
  const known = renderedPages.get(name) ?? render(name, title);
  renderedPages.set(name, known);
  return known;
}

function render(name: string, title: string): DocPage {
  const text = insertServiceUrl(readFileSync(path.join(projectRoot, 'docs', `${name}.md`), 'utf8')).replace(
    /<!--[^]*?-->\n?/g,
    '',
  );
  const headings: Heading[] = [];
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text: words }) {
        const id = buildId(words, headings);
        headings.push({ id, title: words.replace(/`/g, ''), depth });
        return `<h${depth} id="${id}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
      link({ href, tokens }) {
        const target = findAddress(href, name);
        const inner = this.parser.parseInline(tokens);
        return target === null ? inner : html`<a href="${target}">${{ html: inner }}</a>`.html;
      },
      checkbox: () => '☐ ',
      code({ text: code }) {
        return html`<pre tabindex="0"><code>${code}</code></pre>`.html;
      },
    },
  });
  const body = marked
    .parse(text, { async: false })
    .replaceAll('<table>', '<div class="scroll" tabindex="0"><table>')
    .replaceAll('</table>', '</table></div>');
  return { name, title, body: { html: body }, headings, texts: splitByHeading(text) };
}

/**
 * Resolves a link to a page, a heading or a client file. Returns null for other files, which are
 * not served.
 */
function findAddress(href: string, from: string): string | null {
  if (href.startsWith(`${getServiceUrl()}/docs/`)) {
    return href.slice(getServiceUrl().length);
  }
  if (href.startsWith('https://') || href.startsWith('#')) {
    return href;
  }
  const [target = '', hash] = href.split('#');
  const file = path.posix.join('docs', path.posix.dirname(from), target);
  const [, name = ''] = /^docs\/(.+)\.md$/.exec(file) ?? [];
  const after = hash === undefined ? '' : `#${hash}`;
  if (name === mapName) {
    return `/docs${after}`;
  }
  return findMappedPage(name) ? `/docs/${name}${after}` : findClientFileUrl(file);
}

/** Builds heading ids as GitHub does. The second heading with the same words ends in `-1`. */
function buildId(words: string, before: Heading[]): string {
  const id = words
    .toLowerCase()
    .replace(/[^\w\- ]/g, '')
    .replaceAll(' ', '-');
  const times = before.filter((each) => each.id.replace(/-\d+$/, '') === id).length;
  return times === 0 ? id : `${id}-${times}`;
}

function splitByHeading(markdown: string): string[] {
  return removeCodeBlocks(markdown)
    .split(/^#{1,4} .*$/m)
    .slice(1)
    .map((part) =>
      part
        .replace(/\]\([^)]*\)/g, ' ')
        .replace(/[[`*|\s]+/g, ' ')
        .trim(),
    );
}

/** Removes code blocks, whose comments would look like headings. */
function removeCodeBlocks(markdown: string): string {
  return markdown.replace(/^```[^]*?^```$/gm, '');
}
