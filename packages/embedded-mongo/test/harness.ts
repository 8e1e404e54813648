import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve as resolvePath } from 'node:path';
import { MongoClient, type Collection, type Db, type Document, type MongoClientOptions } from 'mongodb';

/** The built server. The tests run in the folder of this package. */
const program = resolvePath('bin/embedded-mongo.mjs');

/** A separate server process on a free port. */
export interface TestServer {
  uri: string;
  port: number;
  dbPath: string;
  process: ChildProcess;
  /** The stderr output of the server so far. */
  stderr: () => string;
  /** Kills the server with SIGKILL, which simulates a crash. */
  kill9: () => Promise<void>;
  /** Stops the server with SIGTERM. Resolves to its exit code. */
  stop: () => Promise<number | null>;
}

export interface TestServerOptions {
  /** An existing data directory. By default a new directory is created, which `cleanUp` deletes. */
  dbPath?: string;
  /**
   * True to sync writes to disk. The default is false, because most tests do not simulate power
   * failures.
   */
  fsync?: boolean;
  args?: string[];
  env?: Record<string, string>;
  /** A shell command that runs before the server, for example to set a limit. */
  shellPrefix?: string;
}

const directories: string[] = [];
const servers = new Set<TestServer>();

export async function newDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'embedded-mongo-'));
  directories.push(directory);
  return directory;
}

/** Starts the server with its command line and waits until it is ready. */
export async function startTestServer(options: TestServerOptions = {}): Promise<TestServer> {
  const dbPath = options.dbPath ?? (await newDirectory());
  const args = [
    '--port',
    '0',
    '--dbpath',
    dbPath,
    ...(options.fsync === true ? [] : ['--no-fsync']),
    ...(options.args ?? []),
  ];
  const node = [program, ...args];
  const child =
    options.shellPrefix === undefined
      ? spawn(process.execPath, node, {
          env: { ...process.env, ...options.env },
          stdio: ['ignore', 'pipe', 'pipe'],
        })
      : spawn('sh', ['-c', `${options.shellPrefix}; exec "$0" "$@"`, process.execPath, ...node], {
          env: { ...process.env, ...options.env },
          stdio: ['ignore', 'pipe', 'pipe'],
        });
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const exited = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)));
  const uri = await new Promise<string>((resolve, reject) => {
    let stdout = '';
    child.stdout.on('data', (chunk: Buffer) => {
      stdout += chunk.toString();
      const ready = /^READY (\S+)$/m.exec(stdout)?.[1];
      if (ready !== undefined) {
        resolve(ready);
      }
    });
    void exited.then((code) => reject(new StartFailure(code, stderr)));
  });
  const server: TestServer = {
    uri,
    port: Number(new URL(uri).port),
    dbPath,
    process: child,
    stderr: () => stderr,
    async kill9() {
      child.kill('SIGKILL');
      await exited;
      servers.delete(server);
    },
    async stop() {
      child.kill('SIGTERM');
      const code = await exited;
      servers.delete(server);
      return code;
    },
  };
  servers.add(server);
  return server;
}

/** Thrown if a server does not become ready. */
export class StartFailure extends Error {
  constructor(
    readonly exitCode: number | null,
    readonly stderr: string,
  ) {
    super(`the server ended with ${exitCode}: ${stderr}`);
  }
}

/** Stops the servers of a test file and deletes their directories. Call it in `after`. */
export async function cleanUp(): Promise<void> {
  await Promise.all([...servers].map((server) => server.kill9()));
  await Promise.all(
    directories.splice(0).map((directory) => rm(directory, { recursive: true, force: true })),
  );
}

/** A server with a connected client, shared by the tests of one file. */
export interface Fixture {
  server: TestServer;
  client: MongoClient;
  db: Db;
  /** Returns a new collection that no other test uses. */
  collection: <T extends Document = Document>() => Collection<T>;
}

let lastName = 0;

export async function startFixture(
  options: TestServerOptions = {},
  clientOptions: MongoClientOptions = {},
): Promise<Fixture> {
  const server = await startTestServer(options);
  const client = new MongoClient(server.uri, { serverSelectionTimeoutMS: 5000, ...clientOptions });
  await client.connect();
  const db = client.db('test');
  return { server, client, db, collection: <T extends Document>() => newCollection<T>(db) };
}

function newCollection<T extends Document>(db: Db): Collection<T> {
  lastName += 1;
  return db.collection<T>(`c${lastName}`);
}

/** Closes the client and the server of `startFixture`. Call it in `after`. */
export async function stopFixture({ client }: Fixture): Promise<void> {
  await client.close(true);
  await cleanUp();
}

/** The part of a fixture that is available on every server. */
export type Connected = Pick<Fixture, 'client' | 'db' | 'collection'>;

/**
 * Runs the same tests on an embedded server, and also on MONGODB_URI if it is a MongoDB server.
 * @param define Defines the tests. Its argument returns the connection while a test runs.
 */
export function describeOnServers(title: string, define: (connected: () => Connected) => void): void {
  let fixture: Fixture;
  describe(title, () => {
    before(async () => {
      fixture = await startFixture();
    });
    after(() => stopFixture(fixture));
    define(() => fixture);
  });
  describe(`${title}, on MongoDB`, () => {
    let given: Connected | null = null;
    before(async function () {
      given = await connectToMongoDB();
      if (given === null) {
        skipBecause(this, 'MONGODB_URI is not set to a MongoDB. These cases also run against MongoDB.');
      }
    });
    after(() => given?.client.close(true));
    define(() => given as Connected);
  });
}

/** Connects to MONGODB_URI. Returns null if it is not set, or if it is an embedded server. */
async function connectToMongoDB(): Promise<Connected | null> {
  const uri = process.env['MONGODB_URI'];
  if (uri === undefined) {
    return null;
  }
  const client = await new MongoClient(uri, { serverSelectionTimeoutMS: 5000 }).connect();
  const { modules = [] } = await client.db('admin').command({ buildInfo: 1 });
  if ((modules as string[]).includes('embedded-mongo')) {
    await client.close();
    return null;
  }
  const db = client.db();
  return { client, db, collection: <T extends Document>() => newCollection<T>(db) };
}

/**
 * Skips a test. If it is called in `before`, it skips the whole suite. scripts/test/report.ts lists
 * the reason at the end of the run.
 */
export function skipBecause(context: Mocha.Context, reason: string): never {
  const runnable: Mocha.Runnable & { type?: string } = context.runnable();
  const skipped = runnable.type === 'hook' && runnable.parent ? runnable.parent : runnable;
  Object.assign(skipped, { skippedBecause: reason });
  return context.skip();
}

/**
 * Waits until a condition is true.
 * @throws Error if the time limit ends first.
 */
export async function eventually(condition: () => boolean | Promise<boolean>, limitMs = 5000): Promise<void> {
  const end = Date.now() + limitMs;
  while (!(await condition())) {
    if (Date.now() > end) {
      throw new Error(`the condition did not become true within ${limitMs} ms`);
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** Returns the error with which a promise rejects. */
export async function errorOf(
  promise: Promise<unknown>,
): Promise<{ code?: unknown; message: string } & Record<string, unknown>> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof Error) {
      return error as Error & Record<string, unknown>;
    }
    throw error;
  }
  throw new Error('expected the promise to reject');
}
