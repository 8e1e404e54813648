import { findOnPath } from '../../../scripts/databases/commands.js';

/**
 * Finds an installed Chromium. The variable CHROMIUM overrides the search. Nothing is downloaded
 * here, because .ci/run installs Chromium in CI.
 */
export function findChromium(): string | null {
  const given = process.env['CHROMIUM'];
  if (given !== undefined && given !== '') {
    return given;
  }
  const names = ['chromium', 'chromium-browser', 'google-chrome'];
  return names.map((name) => findOnPath(name, process.env)).find((found) => found !== null) ?? null;
}

/** Arguments that disable all network access by services of the browser itself. */
export const chromiumArgs = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
