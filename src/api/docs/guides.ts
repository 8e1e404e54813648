import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Marked } from 'marked';
import { projectRoot } from '../../../config/project-file.js';
import { html } from '../../shared/html.js';
import { lookUp } from '../../shared/look-up.js';
import { clientAddressOf } from './client-files.js';
import { ownAddress, withOwnAddress } from './own-address.js';

/** What is read at /docs, in this order, by the names of the files below docs/. */
export const guideTitles = {
  'quick-start': 'Quick start',
  integration: 'Integration',
  errors: 'Errors',
  webhooks: 'Webhooks',
  reseller: 'Reseller software',
  interface: 'Every rule',
} as const;

export type GuideName = keyof typeof guideTitles;

export interface Guide {
  name: GuideName;
  title: string;
  html: string;
  /** Of its headings, for the search: where they are, what they are called, and what stands below them. */
  sections: { id: string; title: string; text: string }[];
}

const rendered = new Map<GuideName, Guide>();

export function isGuideName(name: string): name is GuideName {
  return lookUp(guideTitles, name) !== undefined;
}

/** Made once, from docs/<name>.md, with the address of this service in place of the examples'. */
export function guideOf(name: GuideName): Guide {
  const known = rendered.get(name) ?? render(name);
  rendered.set(name, known);
  return known;
}

export const guides = (): Guide[] => (Object.keys(guideTitles) as GuideName[]).map(guideOf);

function render(name: GuideName): Guide {
  const text = withOwnAddress(readFileSync(path.join(projectRoot, 'docs', `${name}.md`), 'utf8')).replace(
    /<!--[^]*?-->\n?/g,
    '',
  );
  const sections: Guide['sections'] = [];
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text: title }) {
        const id = idOf(title);
        sections.push({ id, title: title.replace(/`/g, ''), text: '' });
        return `<h${depth} id="${id}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
      link({ href, tokens }) {
        const target = addressOf(href);
        const inner = this.parser.parseInline(tokens);
        return target === null ? inner : html`<a href="${target}">${{ html: inner }}</a>`.html;
      },
      checkbox: () => '☐ ',
      code({ text: code }) {
        return html`<pre tabindex="0"><code>${code}</code></pre>`.html;
      },
    },
  });
  const page = marked
    .parse(text, { async: false })
    .replaceAll('<table>', '<div class="scroll" tabindex="0"><table>')
    .replaceAll('</table>', '</table></div>');
  return { name, title: guideTitles[name], html: page, sections: withText(sections, text) };
}

/** A link to a guide, to a heading in it, or to a file of the clients. Other files of the repository are not served: null. */
function addressOf(href: string): string | null {
  const [, file = '', hash = ''] = /^([\w-]*)(?:\.md)?(#[\w-]+)?$/.exec(href) ?? [];
  if (href.startsWith(`${ownAddress()}/docs/`)) {
    return href.slice(ownAddress().length);
  }
  if (href.startsWith('https://')) {
    return href;
  }
  if (file === '' && hash !== '') {
    return hash;
  }
  return isGuideName(file) ? `/docs/${file}${hash}` : clientAddressOf(href);
}

/** As GitHub makes them of headings. */
function idOf(title: string): string {
  return title
    .toLowerCase()
    .replace(/[^\w\- ]/g, '')
    .replaceAll(' ', '-');
}

function withText(sections: Guide['sections'], markdown: string): Guide['sections'] {
  const parts = markdown.split(/^#{1,4} .*$/m).slice(1);
  return sections.map((each, index) => ({
    ...each,
    text: (parts[index] ?? '').replace(/[`*|\s]+/g, ' ').trim(),
  }));
}
