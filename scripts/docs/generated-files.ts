/** Contents of the files that `npm run generate` writes (scripts/generate.mjs). */
import { describedInterface, openApiDocument } from '../../src/api/openapi/document.js';
import { consoleDocument } from '../../src/console/api/document.js';
import { httpFile } from './http-file.js';
import { postmanCollection } from './postman-collection.js';

/** The OpenAPI document for each generated file of types. */
export const documentOfTypes: Record<string, object> = {
  'packages/client-node/src/schema.ts': openApiDocument(),
  'packages/console/src/api/schema.d.ts': consoleDocument(),
};

/** The text of each of the other generated files. */
export const texts: Record<string, string> = {
  'packages/client-node/src/calls.ts': calls(),
  'dist/generated/topup.http': httpFile(describedInterface()),
  'dist/generated/topup.postman_collection.json': postmanCollection(
    describedInterface(),
    'http://127.0.0.1:3000',
  ),
};

/**
 * Lists the method and path of each call that uses an API key. Reseller calls are signed instead
 * (reseller.ts).
 */
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
