import { parseArgs } from 'node:util';
import { COMPACT_AT_BYTES, refuseProduction } from './index.js';
import { startServer, type ServerOptions } from './server.js';

const HELP = `Usage: embedded-mongo [options]

A MongoDB-compatible database for development and tests.

  --port <n>              port to listen on (default 27017; 0 picks a free port)
  --dbpath <directory>    data directory (default .local/embedded-mongo)
  --bind <address>        address to listen on (default 127.0.0.1; there is no authentication)
  --replset <name>        name of the replica set (default rs0)
  --no-fsync              do not wait for the disk: faster; data survives a kill, not a power failure
  --compact-at-bytes <n>  journal size at which a snapshot replaces it (default ${COMPACT_AT_BYTES})
  --lock-lifetime <s>     seconds for which a transaction holds its locks, even after its client disconnects,
                          as in MongoDB (default 60, but only 3 after a disconnect)
  --election <duration>   stop being primary for this time (such as 8s), once, 5 seconds after the start
  --majority-lag <range>  random delay in milliseconds until a write reaches the majority (such as 0-30)
  --help

Prints "READY <uri>" when it accepts connections. SIGTERM and SIGINT stop it.`;

/**
 * Runs the command line. The exit code is 0 after a regular stop, 1 after a failure and 2 for
 * invalid options.
 */
export async function main(args: string[]): Promise<void> {
  const options = readOptions(args);
  if (options === undefined) {
    return;
  }
  try {
    refuseProduction();
    if (!['127.0.0.1', '::1', 'localhost'].includes(options.bind)) {
      console.error(
        `WARNING: listening on ${options.bind} without authentication: any client can change all data.`,
      );
    }
    const server = await startServer(options);
    const stop = (): void => {
      server.stop().then(
        () => process.exit(0),
        (error: unknown) => fail(error),
      );
    };
    process.once('SIGTERM', stop);
    process.once('SIGINT', stop);
    // Print this after the signal handlers are set: a process that waits for this line may send a
    // signal immediately.
    console.log(`READY ${server.uri}`);
  } catch (error) {
    fail(error);
  }
}

function readOptions(args: string[]): ServerOptions | undefined {
  try {
    const { values } = parseArgs({
      args,
      options: {
        port: { type: 'string', default: '27017' },
        dbpath: { type: 'string', default: '.local/embedded-mongo' },
        bind: { type: 'string', default: '127.0.0.1' },
        replset: { type: 'string', default: 'rs0' },
        'no-fsync': { type: 'boolean', default: false },
        'compact-at-bytes': { type: 'string', default: String(COMPACT_AT_BYTES) },
        'lock-lifetime': { type: 'string' },
        election: { type: 'string' },
        'majority-lag': { type: 'string' },
        help: { type: 'boolean', default: false },
      },
    });
    if (values.help) {
      console.log(HELP);
      return undefined;
    }
    return {
      port: wholeNumber('--port', values.port, 65_535),
      bind: values.bind,
      dbPath: values.dbpath,
      fsync: !values['no-fsync'],
      setName: values.replset,
      compactAtBytes: wholeNumber('--compact-at-bytes', values['compact-at-bytes'], Number.MAX_SAFE_INTEGER),
      lockLifetimeSeconds: lockLifetime(values['lock-lifetime']),
      electionMs: values.election === undefined ? null : durationMs('--election', values.election),
      majorityLagMs: majorityLag(values['majority-lag']),
      log: (line) => console.error(line),
      onFailure: fail,
    };
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error));
    console.error('Try --help.');
    process.exitCode = 2;
    return undefined;
  }
}

function wholeNumber(option: string, text: string, max: number): number {
  const number = Number(text);
  if (!/^\d+$/.test(text) || number > max) {
    throw new Error(`${option} must be a whole number up to ${max}, not '${text}'`);
  }
  return number;
}

function lockLifetime(text: string | undefined): number | null {
  if (text === undefined) {
    return null;
  }
  const seconds = wholeNumber('--lock-lifetime', text, 2 ** 31 - 1);
  if (seconds === 0) {
    throw new Error('--lock-lifetime must be at least 1 second');
  }
  return seconds;
}

function majorityLag(text: string | undefined): { minMs: number; maxMs: number } | null {
  if (text === undefined) {
    return null;
  }
  const [, min, max] = /^(\d{1,6})-(\d{1,6})$/.exec(text) ?? [];
  if (min === undefined || Number(min) > Number(max)) {
    throw new Error(`--majority-lag must be a range of milliseconds such as 0-30, not '${text}'`);
  }
  return { minMs: Number(min), maxMs: Number(max) };
}

const UNITS_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000 };

function durationMs(option: string, text: string): number {
  const [, number, unit = ''] = /^(\d{1,6})(ms|s|m)$/.exec(text) ?? [];
  if (number === undefined) {
    throw new Error(`${option} must be a duration such as 500ms, 8s or 1m, not '${text}'`);
  }
  return Number(number) * (UNITS_MS[unit] ?? 0);
}

function fail(error: unknown): void {
  console.error(error instanceof Error ? error.message : String(error));
  process.exit(1);
}
