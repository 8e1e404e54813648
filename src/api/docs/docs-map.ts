/** The pages that /docs serves, in the order of docs/README.md. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { projectRoot } from '../../../config/project-file.js';

export interface MappedPage {
  /** Path below docs/ without `.md`, such as `guides/operate/install`. */
  name: string;
  title: string;
}

export interface MappedGroup {
  title: string;
  pages: MappedPage[];
}

export const docsMap: MappedGroup[] = readMap(readFileSync(path.join(projectRoot, 'docs/README.md'), 'utf8'));

const allPages = docsMap.flatMap(({ pages }) => pages);

export function findMappedPage(name: string): MappedPage | null {
  return allPages.find((each) => each.name === name) ?? null;
}

/** Returns the previous and next page. Null at the ends. */
export function getNeighbours(name: string): { previous: MappedPage | null; next: MappedPage | null } {
  const index = allPages.findIndex((each) => each.name === name);
  return { previous: allPages[index - 1] ?? null, next: allPages[index + 1] ?? null };
}

function readMap(markdown: string): MappedGroup[] {
  const groups: MappedGroup[] = [];
  for (const line of markdown.split('\n')) {
    const [, heading] = /^## (.+)$/.exec(line) ?? [];
    const [, title, name] = /^- \[(.+?)\]\(([\w/-]+)\.md\)/.exec(line) ?? [];
    if (heading !== undefined) {
      groups.push({ title: heading, pages: [] });
    } else if (title !== undefined && name !== undefined) {
      groups.at(-1)?.pages.push({ name, title });
    }
  }
  return groups.filter(({ pages }) => pages.length > 0);
}
