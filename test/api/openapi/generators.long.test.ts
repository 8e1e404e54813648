import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { projectRoot } from '../../../config/project-file.js';
import { sizes } from '../../support/sizes.js';
import { openApiDocument } from '../../../src/api/openapi/document.js';

const run = promisify(execFile);
const fromModules = (path: string) => join(projectRoot, 'node_modules', path);

describe('code generators', function () {
  this.timeout(120_000);
  let directory: string;

  before(async () => {
    // The directory is inside the project, so that the generated code can import the project's
    // packages.
    directory = await mkdtemp(fromModules('.cache/generated-'));
  });
  after(() => rm(directory, { recursive: true }));

  async function compile(source: string, file = 'use.ts', isStrictest = true): Promise<string> {
    await writeFile(join(directory, file), source);
    const compilerOptions = {
      strict: true,
      noUncheckedIndexedAccess: isStrictest,
      exactOptionalPropertyTypes: isStrictest,
      skipLibCheck: !isStrictest,
      module: 'nodenext',
      target: 'es2022',
      noEmit: true,
      types: [],
    };
    await writeFile(join(directory, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: [file] }));
    const ran = run(process.execPath, [fromModules('typescript/lib/tsc.js'), '--project', directory]);
    return ran.then(
      () => '',
      (error: unknown) => (error as { stdout: string }).stdout,
    );
  }

  it('openapi-typescript generates named types that compile under strict options', async () => {
    const types = join(directory, 'types.ts');
    await writeFile(join(directory, 'openapi.json'), JSON.stringify(openApiDocument()));
    await run(process.execPath, [
      fromModules('openapi-typescript/bin/cli.js'),
      join(directory, 'openapi.json'),
      '--output',
      types,
    ]);
    const use = (field: string) => `
      import type { components, operations, webhooks } from './types.js';
      type Transaction = components['schemas']['Transaction'];
      type Answer = operations['createBuyerTransaction']['responses'][200]['content']['application/json'];
      type Event = webhooks['transaction.success']['post']['requestBody']['content']['application/json'];
      export const priceOf = (answer: Answer): number => answer.data.${field};
      export const same = (transaction: Transaction): Answer['data'] => transaction;
      export const serial = ({ data }: Event): string | null => data.sn;
    `;
    expect(await compile(use('price'))).to.equal('');
    expect(await compile(use('prices'))).to.include("Property 'prices' does not exist");
  });

  (sizes.contractTools ? it : it.skip)(
    '@hey-api/openapi-ts generates a typed client that compiles @sized',
    async () => {
      await writeFile(join(directory, 'openapi.json'), JSON.stringify(openApiDocument()));
      await run(process.execPath, [
        fromModules('@hey-api/openapi-ts/bin/run.js'),
        '--input',
        join(directory, 'openapi.json'),
        '--output',
        join(directory, 'hey'),
        '--no-log-file',
      ]);
      const use = (field: string) => `
      import { createBuyerTransaction } from './hey/index.js';
      const body = { code: 'S10', customer_number: '081234561230', ref_id: 'order-1' };
      const { data, error } = await createBuyerTransaction({ body });
      export const price: number | undefined = data?.data.${field};
      export const reason: string | undefined = error?.reason;
    `;
      // The generated code compiles with `strict`, but not with stricter options.
      expect(await compile(use('price'), 'hey.ts', false)).to.equal('');
      expect(await compile(use('prices'), 'hey.ts', false)).to.include("Property 'prices' does not exist");
    },
  );

  (sizes.contractTools ? it : it.skip)(
    'oazapfts generates functions that compile and are typed @sized',
    async () => {
      const document = join(directory, 'openapi.json');
      await writeFile(document, JSON.stringify(openApiDocument()));
      await run(process.execPath, [
        fromModules('oazapfts/dist/cli.js'),
        document,
        join(directory, 'functions.ts'),
      ]);
      const use = (field: string) => `
      import { createBuyerTransaction } from './functions.js';
      const answer = await createBuyerTransaction({ code: 'S10', customer_number: '081234561230', ref_id: 'order-1' });
      export const price: number | undefined = answer.status === 200 ? answer.data.data.${field} : undefined;
    `;
      expect(await compile(use('price'), 'functions-use.ts', false)).to.equal('');
      expect(await compile(use('prices'), 'functions-use.ts', false)).to.include(
        "Property 'prices' does not exist",
      );
    },
  );
});
