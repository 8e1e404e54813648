import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { getBuiltProgramPath } from '../../config/project-file.js';
import { consoleOperations } from '../../src/console/api/operations.js';

describe('console operations', () => {
  it('have unique ids and unique paths per method', () => {
    const ids = consoleOperations.map(({ id }) => id);
    const calls = consoleOperations.map(({ method, path }) => `${method} ${path}`);
    expect(new Set(ids).size).to.equal(ids.length);
    expect(new Set(calls).size).to.equal(calls.length);
  });
});

describe('built console pages', () => {
  it('the first load is under 350 kB, and other pages load on demand', () => {
    const built = getBuiltProgramPath('console');
    const page = readFileSync(join(built, 'index.html'), 'utf8');
    const first = [...page.matchAll(/(?:src|href)="\/(assets\/[^"]+)"/g)].map(([, path]) => path ?? '');
    expect(first.some((path) => path.endsWith('.js'))).to.equal(true);
    const bytes = first.reduce((sum, path) => sum + gzipSync(readFileSync(join(built, path))).length, 0);
    expect(bytes).to.be.lessThan(350_000);
    const scripts = readdirSync(join(built, 'assets')).filter((name) => name.endsWith('.js'));
    expect(scripts.length).to.be.greaterThan(8);
  });
});
