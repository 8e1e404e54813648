import { findOnPath } from '../../../scripts/databases/commands.js';

/** Debian's or the distribution's own. Nothing is downloaded here: .ci/run installs it on a machine of its own. */
export function findChromium(): string | null {
  const given = process.env['CHROMIUM'];
  if (given !== undefined && given !== '') {
    return given;
  }
  const names = ['chromium', 'chromium-browser', 'google-chrome'];
  return names.map((name) => findOnPath(name, process.env)).find((found) => found !== null) ?? null;
}

/** Nothing of its own talks to anybody. */
export const chromiumArgs = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
