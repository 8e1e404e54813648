import { env } from '../../config/env.js';
import { newId } from '../shared/ids.js';

/** Id of this process, unique among all processes and constant for its lifetime. */
export const processId = newId();

/**
 * Returns the name of a process's Redis connection. The connection exists as long as the process,
 * even if the process hangs.
 */
export function getConnectionName(id: string): string {
  return `${env.QUEUE_PREFIX}:process:${id}`;
}
