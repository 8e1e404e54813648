import type { DatabaseContext } from './database.js';

/**
 * Asks for consent to an installation: `npm start -- --install-redis`, INSTALL_REDIS=1, or a
 * confirmation at the terminal.
 * @param what The software and its target, in words.
 */
export async function mayInstall(
  what: string,
  { env, supervisor, confirm }: DatabaseContext,
): Promise<boolean> {
  if (env['INSTALL_REDIS'] === '1') {
    return true;
  }
  if (confirm !== undefined) {
    return confirm(`There is no Redis on this machine. Install ${what}?`);
  }
  supervisor.output.say(`Redis: not installing ${what}, because nobody confirmed it`);
  return false;
}
