/** Pages in the browser as `npm run build` made them (packages/console): the operator's console and the accounts' portal. */
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import express, { type Response } from 'express';
import { builtProgram } from '../../../config/project-file.js';

const built = builtProgram('console');

/** As vite.config.ts of packages/console writes it wherever a nonce belongs. */
const noncePlaceholder = '__CSP_NONCE__';

/** Own scripts from files alone. Mantine writes some of its styles into the page, with the nonce of the answer. */
function contentSecurityPolicy(nonce: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "connect-src 'self'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; ');
}

/**
 * Sends a page. Read anew each time, so that a build under a running process is answered with the names of its own files.
 * @param values What stands in the page for each of these words.
 */
export async function sendBuiltPage(
  response: Response,
  name: 'index.html' | 'portal.html',
  values: Record<string, string> = {},
): Promise<void> {
  const nonce = randomBytes(16).toString('base64');
  const page = await readFile(path.join(built, name), 'utf8');
  const filled = Object.entries({ ...values, [noncePlaceholder]: nonce }).reduce(
    (text, [word, value]) => text.replaceAll(word, value),
    page,
  );
  response.set('Content-Security-Policy', contentSecurityPolicy(nonce)).type('html').send(filled);
}

/** Their names hold a hash of what is in them. There is nothing of the business in them, so they need no login. */
export const builtAssets = express.static(path.join(built, 'assets'), {
  index: false,
  redirect: false,
  immutable: true,
  maxAge: '365d',
});
