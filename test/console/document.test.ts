import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { projectRoot } from '../../config/project-file.js';
import { consoleDocument } from '../../src/console/api/document.js';
import { consoleOperations } from '../../src/console/api/operations.js';

const documentFile = join(projectRoot, 'packages/console/openapi.json');
const typesFile = join(projectRoot, 'packages/console/src/api/schema.d.ts');
const generator = join(projectRoot, 'node_modules/openapi-typescript/bin/cli.js');

describe('the document of the console', function () {
  this.timeout(60_000);

  it('is what the operations say, and the types of the pages are made from it (RECORD=1 writes both)', async () => {
    const document = `${JSON.stringify(consoleDocument(), null, 2)}\n`;
    if (process.env['RECORD'] === '1') {
      writeFileSync(documentFile, document);
      writeFileSync(typesFile, await typesOfFile());
    }
    expect(readFileSync(documentFile, 'utf8') === document, 'packages/console/openapi.json').to.equal(true);
    expect(readFileSync(typesFile, 'utf8') === (await typesOfFile()), 'schema.d.ts').to.equal(true);
  });

  it('names every operation once, and no path twice', () => {
    const ids = consoleOperations.map(({ id }) => id);
    const calls = consoleOperations.map(({ method, path }) => `${method} ${path}`);
    expect(new Set(ids).size).to.equal(ids.length);
    expect(new Set(calls).size).to.equal(calls.length);
  });
});

async function typesOfFile(): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [generator, documentFile], {
    maxBuffer: 10_000_000,
  });
  return stdout;
}
