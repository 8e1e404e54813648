/** `npm run docs:http`: writes docs/topup.http anew, from the OpenAPI document. It connects to nothing. */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { httpFile } from './docs/http-file.js';

// The configuration insists on databases; the document needs none.
process.env['MONGODB_URI'] ??= 'mongodb://127.0.0.1/none';
process.env['REDIS_URL'] ??= 'redis://127.0.0.1/0';
const { openApiDocument } = await import('../src/api/openapi/document.js');

writeFileSync(fileURLToPath(new URL('../../docs/topup.http', import.meta.url)), httpFile(openApiDocument()));
console.log('docs/topup.http is written.');
// What the operations import keeps timers of its own.
process.exit(0);
