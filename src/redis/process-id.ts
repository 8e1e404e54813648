import { env } from '../../config/env.js';
import { newId } from '../shared/ids.js';

/** What this process is called among all, from its start to its end. */
export const processId = newId();

/** The name of the connection to Redis that a process has for as long as it exists, whether it can say anything or not. */
export function getConnectionName(id: string): string {
  return `${env.QUEUE_PREFIX}:process:${id}`;
}
