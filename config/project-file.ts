import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** Root folder of the clone or installation. Bundled programs may be in any folder below it. */
export const projectRoot = findProjectRoot(import.meta.dirname);

/** Returns the path of a file or folder below config/. */
export function getConfigPath(...names: string[]): string {
  return path.join(projectRoot, 'config', ...names);
}

/** Returns the path of a built program below dist/, such as `scripts/seed.js`. */
export function getBuiltProgramPath(name: string): string {
  return path.join(projectRoot, 'dist', name);
}

export function readConfigJson(...names: string[]): unknown {
  return JSON.parse(readFileSync(getConfigPath(...names), 'utf8'));
}

function findProjectRoot(folder: string): string {
  return existsSync(path.join(folder, 'package.json')) ? folder : findProjectRoot(path.dirname(folder));
}
