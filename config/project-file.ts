import { readFileSync } from 'node:fs';
import path from 'node:path';

/** From dist/config as well as from config: JSON files are not compiled. */
const folder = import.meta.dirname.endsWith(path.join('dist', 'config'))
  ? path.resolve(import.meta.dirname, '../../config')
  : import.meta.dirname;

/** Path of a file or folder below config/. */
export function configPath(...names: string[]): string {
  return path.join(folder, ...names);
}

export function readConfigJson(...names: string[]): unknown {
  return JSON.parse(readFileSync(configPath(...names), 'utf8'));
}
