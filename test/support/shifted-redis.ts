/** A Redis server whose clock a test may set while it runs. */
import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startRedisServer, type RedisServer } from './redis-servers.js';

export interface ShiftedRedis extends RedisServer {
  /** Sets the difference between the server's clock and that of this host. */
  shiftTo(ms: number): Promise<void>;
}

/** Starts a Redis server with its own clock. The test needs the tool `cc`. */
export async function startShiftedRedis(): Promise<ShiftedRedis> {
  const directory = await mkdtemp(join(tmpdir(), 'shifted-redis-'));
  const library = join(directory, 'shift-clock.so');
  const file = join(directory, 'shift');
  execFileSync('cc', ['-shared', '-fPIC', '-O2', '-o', library, 'test/support/shift-clock.c']);
  const shiftTo = async (ms: number) => {
    const bytes = Buffer.alloc(8);
    bytes.writeBigInt64LE(BigInt(ms));
    // The server has mapped the file, so it must keep its inode.
    await writeFile(file, bytes, { flag: 'r+' }).catch(() => writeFile(file, bytes));
  };
  await shiftTo(0);
  const server = await startRedisServer([], { env: { LD_PRELOAD: library, SHIFT_FILE: file } });
  return {
    ...server,
    shiftTo,
    async stop() {
      await server.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
