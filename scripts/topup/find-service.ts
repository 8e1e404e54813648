import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { UsageError } from './usage-error.js';

/**
 * Points this process to the running copy: MONGODB_URI and REDIS_URL if both are set, otherwise
 * LOCAL_DIR/demo.json of `npm start`. Call it before importing anything from src/.
 * @throws UsageError with instructions if no copy is found.
 */
export function findService(environment: NodeJS.ProcessEnv): void {
  if (existsSync('.env')) {
    process.loadEnvFile('.env');
  }
  // Log lines would mix with the output. Errors are printed to stderr.
  environment['LOG_LEVEL'] = 'error';
  if (environment['MONGODB_URI'] && environment['REDIS_URL']) {
    return;
  }
  if (environment['NODE_ENV'] === 'production') {
    throw new UsageError('In production, set MONGODB_URI, REDIS_URL and the other settings of the service.');
  }
  const path = join(environment['LOCAL_DIR'] ?? '.local', 'demo.json');
  const demo = readDemo(path);
  environment['MONGODB_URI'] = demo.mongodb_uri;
  environment['REDIS_URL'] = demo.redis_url;
  // `.env.example` contains the variable without a value.
  if (demo.simulator_url && !environment['SIMULATOR_URL']) {
    environment['SIMULATOR_URL'] = demo.simulator_url;
  }
}

interface Demo {
  mongodb_uri: string;
  redis_url: string;
  simulator_url?: string;
}

function readDemo(path: string): Demo {
  try {
    const demo = JSON.parse(readFileSync(path, 'utf8')) as Partial<Demo>;
    const { mongodb_uri, redis_url, ...rest } = demo;
    if (mongodb_uri && redis_url) {
      return { ...rest, mongodb_uri, redis_url };
    }
  } catch {
    // No copy was started here. The message below explains what to do.
  }
  throw new UsageError(
    `No running copy found (${path}). Start one with npm start, name its directory with LOCAL_DIR, or set MONGODB_URI and REDIS_URL.`,
  );
}
