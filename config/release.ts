import { readFileSync } from 'node:fs';
import path from 'node:path';
import { projectRoot } from './project-file.js';

/** Version of this release, from package.json. */
export const releaseVersion = readVersion();

function readVersion(): string {
  const text = readFileSync(path.join(projectRoot, 'package.json'), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}
