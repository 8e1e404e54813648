/** `npm run docs:http`: writes docs/topup.http and docs/topup.postman_collection.json anew, from the OpenAPI document. It connects to nothing. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { projectRoot } from '../config/project-file.js';
import { httpFile } from './docs/http-file.js';
import { postmanCollection } from './docs/postman-collection.js';

// The configuration insists on databases; the document needs none.
process.env['MONGODB_URI'] ??= 'mongodb://127.0.0.1/none';
process.env['REDIS_URL'] ??= 'redis://127.0.0.1/0';

async function main(): Promise<void> {
  const { describedInterface } = await import('../src/api/openapi/document.js');
  const files = {
    'docs/topup.http': httpFile(describedInterface()),
    'docs/topup.postman_collection.json': postmanCollection(describedInterface(), 'http://127.0.0.1:3000'),
  };
  for (const [file, text] of Object.entries(files)) {
    writeFileSync(path.join(projectRoot, file), text);
    console.log(`${file} is written.`);
  }
  // What the operations import keeps timers of its own.
  process.exit(0);
}

void main();
