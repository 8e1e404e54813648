/** `npm run docs:http`: writes docs/topup.http anew, from the OpenAPI document. It connects to nothing. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { projectRoot } from '../config/project-file.js';
import { httpFile } from './docs/http-file.js';

// The configuration insists on databases; the document needs none.
process.env['MONGODB_URI'] ??= 'mongodb://127.0.0.1/none';
process.env['REDIS_URL'] ??= 'redis://127.0.0.1/0';
const { describedInterface } = await import('../src/api/openapi/document.js');

writeFileSync(path.join(projectRoot, 'docs/topup.http'), httpFile(describedInterface()));
console.log('docs/topup.http is written.');
// What the operations import keeps timers of its own.
process.exit(0);
