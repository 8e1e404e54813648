import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/**
 * Returns the text of each page in a folder of docs/, by the page's path from the repository root.
 */
export function readPages(folder: string): Record<string, string> {
  const files = readdirSync(path.join('docs', folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md'))
    .sort()
    .map((file) => path.posix.join('docs', folder, file));
  return Object.fromEntries(files.map((file) => [file, readFileSync(file, 'utf8')]));
}

/** Returns all pages in a folder of docs/ as one text. */
export const textOfPages = (folder: string): string => Object.values(readPages(folder)).join('\n');
