import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** The text of each page below a folder of docs/, by its path from the root of the repository. */
export function readPages(folder: string): Record<string, string> {
  const files = readdirSync(path.join('docs', folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md'))
    .sort()
    .map((file) => path.posix.join('docs', folder, file));
  return Object.fromEntries(files.map((file) => [file, readFileSync(file, 'utf8')]));
}

/** The same as one text. */
export const textOfPages = (folder: string): string => Object.values(readPages(folder)).join('\n');
