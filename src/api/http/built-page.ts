/**
 * Browser pages that `npm run build` makes from packages/console: the operator console and the
 * account portal.
 */
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import express, { type Response } from 'express';
import { getBuiltProgramPath } from '../../../config/project-file.js';

const built = getBuiltProgramPath('console');

/** vite.config.ts of packages/console writes this where a nonce belongs. */
const noncePlaceholder = '__CSP_NONCE__';

/**
 * Scripts load only from our files. Mantine writes some styles into the page, with the nonce of the
 * response.
 */
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
 * Sends a page. The file is read for each response, because a build while the process runs changes
 * the names of the assets.
 * @param values Replacements for placeholders in the page.
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

/**
 * File names contain a hash of the content. The files hold no business data, so they need no login.
 */
export const builtAssets = express.static(path.join(built, 'assets'), {
  index: false,
  redirect: false,
  immutable: true,
  maxAge: '365d',
});
