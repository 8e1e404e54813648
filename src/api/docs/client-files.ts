import path from 'node:path';
import { lookUp } from '../../shared/collections.js';

/** Files that /docs/clients/<name> serves for download. */
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
  /** Path below `projectRoot`. */
  file: string;
  type: string;
  /** True if example addresses in the file are replaced by the address of this service. */
  isAddressed: boolean;
}

/** Returns the file that /docs/clients/<name> serves. Null if there is none. */
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

/**
 * Returns the URL of a client file. Null if it is not served.
 * @param wanted Path in the repository.
 */
export function findClientFileUrl(wanted: string): string | null {
  const found = Object.entries({ ...clientFiles, ...readmes }).find(([, file]) => file === wanted);
  return found ? `/docs/clients/${found[0]}` : null;
}

/** Built files are not in the repository. Guides link to these files instead. */
const readmes = { 'topup-client.tgz': 'packages/client-node/README.md' };

/** Browsers show code that is served as text. */
const plainText = 'text/plain; charset=utf-8';
const types: Record<string, string> = { '.tgz': 'application/gzip', '.json': 'application/json' };
