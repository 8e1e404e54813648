/** What `npm run generate` makes of the operations (scripts/generate.mjs). */
import { describedInterface, openApiDocument } from '../../src/api/openapi/document.js';
import { consoleDocument } from '../../src/console/api/document.js';
import { httpFile } from './http-file.js';
import { postmanCollection } from './postman-collection.js';

/** The OpenAPI document from which each file of types is made. */
export const documentOfTypes: Record<string, object> = {
  'packages/client-node/src/schema.ts': openApiDocument(),
  'packages/console/src/api/schema.d.ts': consoleDocument(),
};

/** Each other file with its text. */
export const texts: Record<string, string> = {
  'packages/client-node/src/calls.ts': calls(),
  'dist/generated/topup.http': httpFile(describedInterface()),
  'dist/generated/topup.postman_collection.json': postmanCollection(
    describedInterface(),
    'http://127.0.0.1:3000',
  ),
};

/** Method and path of each call that an API key authenticates. The calls of the reseller surface are signed: see reseller.ts. */
function calls(): string {
  const rows = Object.entries(describedInterface().paths).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([, { security }]) => security.some((each) => 'apiKey' in each))
      .map(
        ([method, { operationId }]) =>
          `  ${operationId}: { method: '${method.toUpperCase()}', path: '${path}' },`,
      ),
  );
  return `/** Written by npm run generate. */\nexport const calls = {\n${rows.join('\n')}\n} as const;\n`;
}
