import path from 'node:path';
import { lookUp } from '../../shared/collections.js';

/** The files that /docs/clients/<name> serves for download. */
export const clientFiles = {
  'topup-client.tgz': 'dist/clients/topup-client.tgz',
  'quick-start.mjs': 'packages/client-node/quick-start.mjs',
  'topup.py': 'clients/python/topup.py',
  'quick_start.py': 'clients/python/quick_start.py',
  'Topup.php': 'clients/php/Topup.php',
  'quick-start.php': 'clients/php/quick-start.php',
  'webhook.go': 'clients/go/webhook.go',
  'webhook-vectors.json': 'clients/webhook-vectors.json',
  'topup.http': 'dist/generated/topup.http',
  'topup.postman_collection.json': 'dist/generated/topup.postman_collection.json',
} as const;

export interface ClientFile {
  /** Below `projectRoot`. */
  file: string;
  type: string;
  /** Calls to send: the reader's are to this service. */
  isAddressed: boolean;
}

export function findClientFile(name: string): ClientFile | null {
  const file = lookUp(clientFiles, name);
  return file === undefined
    ? null
    : {
        file,
        type: lookUp(types, path.extname(file)) ?? plainText,
        isAddressed: file.startsWith('dist/generated/'),
      };
}

/** The address of a file of the clients. @param wanted Its path in the repository. */
export function findClientFileUrl(wanted: string): string | null {
  const found = Object.entries({ ...clientFiles, ...readmes }).find(([, file]) => file === wanted);
  return found ? `/docs/clients/${found[0]}` : null;
}

/** What is built has no place in the repository: a guide links to what is read there in its stead. */
const readmes = { 'topup-client.tgz': 'packages/client-node/README.md' };

/** Code is for reading, in a browser too. */
const plainText = 'text/plain; charset=utf-8';
const types: Record<string, string> = { '.tgz': 'application/gzip', '.json': 'application/json' };
