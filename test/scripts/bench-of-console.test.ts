import { readFileSync } from 'node:fs';
import { expect } from 'chai';

describe('npm run bench -- console', () => {
  // It finds out by itself what it forgets, but after the half hour in which it has made its business.
  it('asks for each GET of the document of the console', () => {
    const { paths } = JSON.parse(readFileSync('packages/console/openapi.json', 'utf8')) as {
      paths: Record<string, object>;
    };
    const asked = readFileSync('scripts/bench/support/console-calls.ts', 'utf8');
    const gets = Object.keys(paths).filter((path) => 'get' in (paths[path] ?? {}));
    expect(gets).to.have.length.greaterThan(40);
    expect(gets.filter((path) => !asked.includes(`'${path}'`))).to.deep.equal([]);
  });
});
