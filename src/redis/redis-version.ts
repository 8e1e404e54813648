import { requireVersion } from '../shared/server-versions.js';
import { redisServers } from './connection.js';

/** One field of what INFO says. */
export function infoField(info: string, field: string): string {
  return new RegExp(`^${field}:(.*?)\\r?$`, 'm').exec(info)?.[1] ?? 'unknown';
}

/**
 * Looks at each Redis that answers. One that is away stops nobody: purchases are accepted without it, and `topup doctor`
 * judges it later.
 * @throws ServerTooOldError
 */
export async function requireRedisVersion(): Promise<void> {
  for (const server of redisServers()) {
    const info = await server.info('server').catch(() => '');
    requireVersion('Redis', infoField(info, 'redis_version'));
  }
}
