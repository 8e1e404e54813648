/** The console's single page and what it loads, as `npm run build` made them (packages/console). */
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import express from 'express';
import { builtProgram } from '../../config/project-file.js';
import type { ConsoleRoute } from './console-route.js';

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

/** Read anew each time, so that a build under a running process is answered with the names of its own files. */
export const showApp: ConsoleRoute['handle'] = async (_request, response) => {
  const nonce = randomBytes(16).toString('base64');
  const page = await readFile(path.join(built, 'index.html'), 'utf8');
  response
    .set('Content-Security-Policy', contentSecurityPolicy(nonce))
    .type('html')
    .send(page.replaceAll(noncePlaceholder, nonce));
};

/** Their names hold a hash of what is in them. There is nothing of the business in them, so they need no login. */
export const appAssets = express.static(path.join(built, 'assets'), {
  index: false,
  redirect: false,
  immutable: true,
  maxAge: '365d',
});
