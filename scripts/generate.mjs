/**
 * `npm run generate`, a part of `npm run build` and `npm run check`: writes the files that follow from the operations and are
 * not in the repository. The types and calls of packages/client-node and the types of packages/console are sources for other
 * programs; dist/generated holds the calls for editors and Postman, which /docs serves. It connects to nothing.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import openapiTS, { astToString } from 'openapi-typescript';
import { bundle } from './bundle.mjs';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const module = 'scripts/docs/generated-files';
const cache = path.join(root, 'node_modules/.cache/generate');

// The configuration insists on databases; the documents need none.
process.env.MONGODB_URI ??= 'mongodb://127.0.0.1/none';
process.env.REDIS_URL ??= 'redis://127.0.0.1/0';
await bundle(root, { entryPoints: [`${module}.ts`], outdir: cache, extension: '.mjs' });
const { documentOfTypes, texts } = await import(pathToFileURL(path.join(cache, `${module}.mjs`)));

for (const [file, document] of Object.entries(documentOfTypes)) {
  // Clients may leave out a field that has a default, so a default does not make a field required.
  const types = await openapiTS(JSON.parse(JSON.stringify(document)), { defaultNonNullable: false });
  write(file, `/** Written by npm run generate. */\n${astToString(types)}`);
}
for (const [file, text] of Object.entries(texts)) {
  write(file, text);
}
// The modules of the operations keep timers of their own.
process.exit(0);

/** Leaves a file alone that is up to date: a newer one would make the next start build again. */
function write(file, text) {
  const target = path.join(root, file);
  if (!existsSync(target) || readFileSync(target, 'utf8') !== text) {
    mkdirSync(path.dirname(target), { recursive: true });
    writeFileSync(target, text);
  }
}
