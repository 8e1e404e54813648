import { requireVersion } from '../shared/server-versions.js';
import { redis, redisServers } from './connection.js';

/** One field of what INFO says. */
export function infoField(info: string, field: string): string {
  return new RegExp(`^${field}:(.*?)\\r?$`, 'm').exec(info)?.[1] ?? 'unknown';
}

/**
 * Looks at each Redis that answers. One that is away stops nobody: purchases are accepted without it, and it is judged when
 * it comes back.
 * @throws ServerTooOldError
 */
export async function requireRedisVersion(): Promise<void> {
  for (const server of redisServers()) {
    const info = await server.info('server').catch(() => '');
    requireVersion('Redis', infoField(info, 'redis_version'));
  }
}

/**
 * From now on also whenever the connection comes back, maybe to another server. The error is left to escape everything, which
 * ends the process in order: commands of all its connections are under way by then, and only its end stops them all.
 */
export function recheckVersionOnReconnect(): void {
  redis().on('ready', () => {
    void requireRedisVersion();
  });
}
