import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { builtProgram, projectRoot } from '../../config/project-file.js';
import { consoleDocument } from '../../src/console/api/document.js';
import { consoleOperations } from '../../src/console/api/operations.js';

const documentFile = join(projectRoot, 'packages/console/openapi.json');
const typesFile = join(projectRoot, 'packages/console/src/api/schema.d.ts');
const howToRecord = 'is out of date: RECORD=1 npm test -- test/console/document.test.ts';
const generator = join(projectRoot, 'node_modules/openapi-typescript/bin/cli.js');

describe('the document of the console', () => {
  it('is what the operations say, and the types of the pages are made from it (RECORD=1 writes both)', async () => {
    const document = `${JSON.stringify(consoleDocument(), null, 2)}\n`;
    if (process.env['RECORD'] === '1') {
      writeFileSync(documentFile, document);
      writeFileSync(typesFile, await typesOfFile());
    }
    expect(
      readFileSync(documentFile, 'utf8') === document,
      `packages/console/openapi.json ${howToRecord}`,
    ).to.equal(true);
    expect(readFileSync(typesFile, 'utf8') === (await typesOfFile()), `schema.d.ts ${howToRecord}`).to.equal(
      true,
    );
  });

  it('names every operation once, and no path twice', () => {
    const ids = consoleOperations.map(({ id }) => id);
    const calls = consoleOperations.map(({ method, path }) => `${method} ${path}`);
    expect(new Set(ids).size).to.equal(ids.length);
    expect(new Set(calls).size).to.equal(calls.length);
  });
});

describe('the pages as they are built', () => {
  it('what a browser loads first is under 350 kB, and other pages are loaded when they are opened', () => {
    const built = builtProgram('console');
    const page = readFileSync(join(built, 'index.html'), 'utf8');
    const first = [...page.matchAll(/(?:src|href)="\/(assets\/[^"]+)"/g)].map(([, path]) => path ?? '');
    expect(first.some((path) => path.endsWith('.js'))).to.equal(true);
    const bytes = first.reduce((sum, path) => sum + gzipSync(readFileSync(join(built, path))).length, 0);
    expect(bytes).to.be.lessThan(350_000);
    const scripts = readdirSync(join(built, 'assets')).filter((name) => name.endsWith('.js'));
    expect(scripts.length).to.be.greaterThan(8);
  });
});

async function typesOfFile(): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [generator, documentFile], {
    maxBuffer: 10_000_000,
  });
  return stdout;
}
