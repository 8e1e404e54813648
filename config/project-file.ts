import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** Root folder of the clone or installation. Bundled programs may be in any folder below it. */
export const projectRoot = rootAbove(import.meta.dirname);

/** Returns the path of a file or folder below config/. */
export function configPath(...names: string[]): string {
  return path.join(projectRoot, 'config', ...names);
}

/** Returns the path of a built program below dist/, such as `scripts/seed.js`. */
export function builtProgram(name: string): string {
  return path.join(projectRoot, 'dist', name);
}

export function readConfigJson(...names: string[]): unknown {
  return JSON.parse(readFileSync(configPath(...names), 'utf8'));
}

function rootAbove(folder: string): string {
  return existsSync(path.join(folder, 'package.json')) ? folder : rootAbove(path.dirname(folder));
}
