import { findFreePort, findPortConflict } from '../databases/ports.js';
import { PlainError } from '../supervisor/plain-error.js';

const defaultPort = 3_000;

/**
 * Returns the port from PORT. The value 0 means any free port.
 * @throws PlainError with instructions if the port is unavailable.
 */
export async function webPort(env: NodeJS.ProcessEnv): Promise<number> {
  const rawPort = env['PORT'];
  const port = rawPort === undefined || rawPort === '' ? defaultPort : Number(rawPort);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new PlainError(
      `PORT is "${rawPort ?? ''}"; it must be a number from 1 to 65535, or 0 for any free one.`,
    );
  }
  if (port === 0) {
    return findFreePort();
  }
  const code = await findPortConflict(port);
  if (code === 'EACCES') {
    throw new PlainError(
      `PORT=${port}: this user may not listen on this port. Choose a port above 1023, for example\n  PORT=3000 npm start`,
    );
  }
  if (code !== null) {
    throw new PlainError(
      `PORT=${port} is already in use by another program (${code}). Stop it, or choose another port:\n` +
        `  PORT=${port + 1} npm start\n` +
        `A second copy also needs its own data:\n` +
        `  PORT=${port + 1} LOCAL_DIR=.local/second npm start`,
    );
  }
  return port;
}
