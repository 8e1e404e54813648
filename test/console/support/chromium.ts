import { findOnPath } from '../../../scripts/databases/commands.js';

/**
 * Finds an installed Chromium; CHROMIUM overrides it. Nothing is downloaded here: .ci/run installs
 * it in CI.
 */
export function findChromium(): string | null {
  const given = process.env['CHROMIUM'];
  if (given !== undefined && given !== '') {
    return given;
  }
  const names = ['chromium', 'chromium-browser', 'google-chrome'];
  return names.map((name) => findOnPath(name, process.env)).find((found) => found !== null) ?? null;
}

/** Disables all network access of the browser's own services. */
export const chromiumArgs = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
