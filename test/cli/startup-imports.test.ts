/** A command that needs no database must not load its packages. */
import { build } from 'esbuild';
import { expect } from 'chai';

/** Returns the packages that the program loads when it starts, without dynamic imports. */
async function listEagerImports(entry: string): Promise<string[]> {
  const { metafile } = await build({
    entryPoints: [entry],
    bundle: true,
    write: false,
    metafile: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    logLevel: 'silent',
  });
  const files = new Set([entry]);
  const packages = new Set<string>();
  for (const file of files) {
    for (const { path, kind, external } of metafile.inputs[file]?.imports ?? []) {
      if (kind !== 'dynamic-import') {
        (external ? packages : files).add(path);
      }
    }
  }
  return [...packages].filter((each) => !/^(node:|fs$|path$)/.test(each)).sort();
}

describe('packages that the command line loads', () => {
  it('include no database, queue, validator or HTTP client until needed', async () => {
    expect(await listEagerImports('scripts/topup.ts')).to.deep.equal(['commander', 'picocolors']);
  });

  it('include no database for verify-message', async () => {
    expect(await listEagerImports('scripts/topup/verify-message.ts')).to.deep.equal(['joi']);
  });
});
