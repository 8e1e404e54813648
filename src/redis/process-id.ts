import { env } from '../../config/env.js';
import { newId } from '../shared/ids.js';

/** Unique id of this process in the fleet, for its lifetime. */
export const processId = newId();

/**
 * Returns the name of a process's Redis connection. It exists as long as the process, even if the
 * process hangs.
 */
export function getConnectionName(id: string): string {
  return `${env.QUEUE_PREFIX}:process:${id}`;
}
