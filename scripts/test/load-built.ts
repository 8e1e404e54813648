/** Loads a test file or a test program from the bundle of a run (build-tests.ts). */
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { runCached } from '../supervisor/run-cached.js';

export async function loadBuilt(builtDir: string, file: string): Promise<unknown> {
  const { loaders } = runCached(pathToFileURL(path.join(builtDir, testBundle))) as Bundle;
  const load = loaders[file];
  if (load === undefined) {
    throw new Error(`${file} is not in ${testBundle} of this run`);
  }
  return load();
}

/** Name of the bundle in the folder of the built tests. */
export const testBundle = 'tests.cjs';

interface Bundle {
  /** Functions that evaluate a file, by its path in the repository. */
  loaders: Record<string, (() => Promise<unknown>) | undefined>;
}
