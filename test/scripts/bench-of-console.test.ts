import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { consoleOperations } from '../../src/console/api/operations.js';

describe('npm run bench -- console', () => {
  it('measures every GET of the console', () => {
    const asked = readFileSync('scripts/bench/support/console-calls.ts', 'utf8');
    const gets = consoleOperations
      .filter(({ method }) => method === 'get')
      .map(({ path }) => path.replace(/:(\w+)/g, '{$1}'));
    expect(gets).to.have.length.greaterThan(40);
    expect(gets.filter((path) => !asked.includes(`'${path}'`))).to.deep.equal([]);
  });
});
