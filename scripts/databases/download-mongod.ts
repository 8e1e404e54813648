/** The `mongod` that mongodb-memory-server downloads. Gives up at once on an offline machine. */
import { once } from 'node:events';
import net from 'node:net';
import type { DatabaseContext } from './database.js';
import { limitedSignal } from '../supervisor/limited-signal.js';

const probeMs = 1_500;
const downloadMs = 300_000;

/**
 * Returns the path of the cached or downloaded program, or null after printing why it is
 * unavailable.
 */
export async function downloadMongod({ env, supervisor }: DatabaseContext): Promise<string | null> {
  const { output, stopping } = supervisor;
  try {
    // Loaded only here, because this development package loads slowly.
    const { MongoBinary, DryMongoBinary } = await import('mongodb-memory-server-core');
    const { MongoBinaryDownloadUrl } =
      await import('mongodb-memory-server-core/lib/util/MongoBinaryDownloadUrl.js');
    const options = await DryMongoBinary.generateOptions({});
    const present = await DryMongoBinary.locateBinary(options);
    if (present === undefined) {
      const { hostname } = new URL(await new MongoBinaryDownloadUrl(options).getDownloadUrl());
      if (!usesProxy(env) && !(await isReachable(hostname, stopping))) {
        output.say('MongoDB: no download, because this machine is offline');
        return null;
      }
      output.say(`MongoDB: downloading mongod ${options.version} (about 100 MB, cached for later starts) …`);
    }
    return present ?? (await withLimit(MongoBinary.getPath(options), stopping));
  } catch (error) {
    stopping.throwIfAborted();
    output.say(`MongoDB: the download failed (${error instanceof Error ? error.message : String(error)})`);
    return null;
  }
}

function usesProxy(env: NodeJS.ProcessEnv): boolean {
  return [env['HTTPS_PROXY'], env['https_proxy']].some((proxy) => proxy !== undefined && proxy !== '');
}

/**
 * Checks within a short time whether a host is reachable, so that an offline machine does not wait
 * for minutes.
 */
async function isReachable(hostname: string, stopping: AbortSignal): Promise<boolean> {
  const socket = net.connect({ host: hostname, port: 443 });
  try {
    await once(socket, 'connect', { signal: limitedSignal(stopping, probeMs) });
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

async function withLimit<T>(work: Promise<T>, stopping: AbortSignal): Promise<T> {
  const signal = limitedSignal(stopping, downloadMs);
  const over = once(signal, 'abort').then(() => {
    throw signal.reason;
  });
  return Promise.race([work, over]);
}
