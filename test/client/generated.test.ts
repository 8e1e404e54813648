import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { projectRoot } from '../../config/project-file.js';
import { describedInterface, openApiDocument } from '../../src/api/openapi/document.js';

const inPackage = (file: string) => join(projectRoot, 'packages/client-node/src', file);
const generator = join(projectRoot, 'node_modules/openapi-typescript/bin/cli.js');

describe('packages/client-node: what is generated', () => {
  it('is what the OpenAPI document gives (RECORD=1 writes schema.ts and calls.ts)', async () => {
    const made = { 'schema.ts': await types(), 'calls.ts': calls() };
    for (const [file, text] of Object.entries(made)) {
      if (process.env['RECORD'] === '1') {
        await writeFile(inPackage(file), text);
      }
      expect((await readFile(inPackage(file), 'utf8')) === text, howToRecord(file)).to.equal(true);
    }
  });
});

const howToRecord = (file: string) =>
  `packages/client-node/src/${file} is not what the OpenAPI document gives: RECORD=1 npm test -- test/client/generated.test.ts`;

async function types(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'client-types-'));
  try {
    const file = join(directory, 'openapi.json');
    await writeFile(file, JSON.stringify(openApiDocument()));
    const ran = await promisify(execFile)(
      process.execPath,
      // What has a default may be left out.
      [generator, file, '--default-non-nullable=false'],
      { maxBuffer: 10_000_000 },
    );
    return ran.stdout;
  } finally {
    await rm(directory, { recursive: true });
  }
}

/** Where each call is. Those of the reseller surface are signed, not keyed: reseller.ts has them. */
function calls(): string {
  const rows = Object.entries(describedInterface().paths).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([, { security }]) => security.some((each) => 'apiKey' in each))
      .map(
        ([method, { operationId }]) =>
          `  ${operationId}: { method: '${method.toUpperCase()}', path: '${path}' },`,
      ),
  );
  const head = '/** Made from the OpenAPI document by test/client/generated.test.ts with RECORD=1. */';
  return `${head}\nexport const calls = {\n${rows.join('\n')}\n} as const;\n`;
}
