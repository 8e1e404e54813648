import type { DatabaseContext } from './database.js';

/**
 * Nothing is installed without a yes: `npm start -- --install-redis`, INSTALL_REDIS=1, or the person at the terminal.
 * @param what In words, with where it goes.
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
  supervisor.output.say(`Redis: not installing ${what}: nobody has said yes`);
  return false;
}
