import { env } from '../../config/env.js';
import { redis } from '../redis/connection.js';

/** While any process that tells alarms finds MongoDB away, for which others it may answer. */
const key = `${env.QUEUE_PREFIX}:alarms:mongodb-away`;

/** Without Redis nobody hears it. @param forMs How long one look counts. */
export async function markMongodbAway(forMs: number): Promise<void> {
  await redis()
    .set(key, '1', 'PX', forMs)
    .catch(() => undefined);
}

/** @throws Redis's own errors. */
export async function isMongodbMarkedAway(): Promise<boolean> {
  return (await redis().get(key)) !== null;
}
