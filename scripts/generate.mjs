/**
 * `npm run generate`, a part of `npm run build` and `npm run check`: writes files generated from
 * the operations. The types and calls of packages/client-node and the types of packages/console are
 * sources for other programs. dist/generated holds the collections for editors and Postman, which
 * /docs serves. It connects to nothing.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import openapiTS, { astToString } from 'openapi-typescript';
import { bundle } from './bundle.mjs';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const module = 'scripts/docs/generated-files';
const cache = path.join(root, 'node_modules/.cache/generate');

// The configuration requires database addresses, although the documents do not.
process.env.MONGODB_URI ??= 'mongodb://127.0.0.1/none';
process.env.REDIS_URL ??= 'redis://127.0.0.1/0';
await bundle(root, { entryPoints: [`${module}.ts`], outdir: cache, extension: '.mjs' });
const { documentOfTypes, texts } = await import(pathToFileURL(path.join(cache, `${module}.mjs`)));

for (const [file, document] of Object.entries(documentOfTypes)) {
  // Clients may omit a field with a default, so a default does not make a field required.
  const types = await openapiTS(JSON.parse(JSON.stringify(document)), { defaultNonNullable: false });
  write(file, `/** Written by npm run generate. */\n${astToString(types)}`);
}
for (const [file, text] of Object.entries(texts)) {
  write(file, text);
}
// The modules of the operations keep timers, which would prevent the process from exiting.
process.exit(0);

/** Does not rewrite an unchanged file, because a newer file would trigger another build. */
function write(file, text) {
  const target = path.join(root, file);
  if (!existsSync(target) || readFileSync(target, 'utf8') !== text) {
    mkdirSync(path.dirname(target), { recursive: true });
    writeFileSync(target, text);
  }
}
