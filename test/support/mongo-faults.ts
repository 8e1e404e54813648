/**
 * Simulates faults of a MongoDB deployment for selected commands. A proxy in the test's process
 * does that, so the faults are the same on every server. A test file that imports this module
 * reaches MongoDB through the proxy.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { MongoClient, type Document } from 'mongodb';
import { env } from '../../config/env.js';
import { startMongoProxy, type Interference, type ProxiedCommand } from './mongo-proxy.js';
import type { Outage } from './outage.js';

/** The kinds of faults. With the first five, the server executes the command before the fault. */
export type FaultKind =
  /** The command is executed. Then the connection is closed without a reply. */
  | 'reply-lost'
  /** The command is executed. No reply is sent, and the connection stays open. */
  | 'silence'
  /** The command is executed. The reply is an error without a label. */
  | 'unlabelled-error'
  /** The command is executed. The majority does not confirm it in time. */
  | 'write-concern-timeout'
  /**
   * The command is executed. Then the primary steps down for `ms`, for all clients of the server.
   */
  | 'step-down'
  /** The command is executed after a delay of `ms`. */
  | 'pause'
  /** The connection is closed and the command is not executed. */
  | 'refused'
  /** The command fails, because its transaction no longer exists, as after its lifetime. */
  | 'transient'
  /** The command fails, because its transaction conflicts with another one. */
  | 'write-conflict'
  /** A `getMore` fails, because its cursor no longer exists, as after 10 idle minutes. */
  | 'cursor-lost'
  /** The command fails, because the user lacks the permission. */
  | 'forbidden';

export interface Fault {
  /** Names of the affected commands in the wire protocol, such as `commitTransaction`. */
  commands: readonly string[];
  kind: FaultKind;
  /** Affects only commands on this namespace (`database.collection`). */
  namespace?: string;
  /** The number of commands to affect (default: 1). Ignored if `probability` is set. */
  times?: number;
  /** The probability (0 to 1) that a command is affected. */
  probability?: number;
  /** Duration in milliseconds. Default: 1 s for a pause, 8 s for an election. */
  ms?: number;
  /**
   * The URI of the database to affect. Default: that of the test file (MONGODB_URI). If it has an
   * `appName`, as the URIs of test files and stacks do, only clients with that name are affected.
   */
  uri?: string;
}

/** The errors, as a MongoDB server returns them. */
const errors = {
  forbidden: { code: 13, codeName: 'Unauthorized' },
  'cursor-lost': { code: 43, codeName: 'CursorNotFound' },
  'write-conflict': { code: 112, codeName: 'WriteConflict' },
  transient: { code: 251, codeName: 'NoSuchTransaction' },
  interrupted: { code: 11602, codeName: 'InterruptedDueToReplStateChange' },
} as const;

const endsTransaction: ReadonlySet<string> = new Set(['commitTransaction', 'abortTransaction']);

/**
 * Returns how the proxy simulates a fault for a command.
 * @param target The URL of the server behind the proxy.
 */
function interferenceOf({ kind, ms }: Fault, command: ProxiedCommand, target: string): Interference {
  switch (kind) {
    case 'reply-lost':
      return { answer: () => 'cut' };
    case 'silence':
      return { answer: () => 'silence' };
    case 'unlabelled-error':
      return { answer: onSuccess(() => errorReply('interrupted')) };
    case 'write-concern-timeout':
      return { answer: onSuccess((reply) => ({ ...reply, writeConcernError: notConfirmed })) };
    case 'step-down':
      return {
        answer: async (reply) => {
          await stepDown(target, ms ?? 8_000);
          return onSuccess(() => buildInterruptedReply(command, reply))(reply);
        },
      };
    case 'pause':
      return { waitFor: delay(ms ?? 1_000, undefined, { ref: false }) };
    case 'refused':
      return { replyWith: 'cut' };
    case 'transient':
    case 'write-conflict':
    case 'cursor-lost':
    case 'forbidden':
      return refusal(kind, command);
  }
}

const notConfirmed = {
  code: 64,
  codeName: 'WriteConcernTimeout',
  errmsg: 'waiting for replication timed out',
  errInfo: { wtimeout: true },
};

/**
 * Applies the fault only to a command that succeeded. Otherwise the reply keeps the command's own
 * error.
 */
function onSuccess(answer: (reply: Document) => Document): (reply: Document) => Document {
  return (reply) => (Number(reply['ok']) === 1 ? answer(reply) : reply);
}

/**
 * Refuses a command without executing it. If the error ends the transaction, the proxy also aborts
 * the transaction on the server, so that its locks are released.
 */
function refusal(
  kind: 'transient' | 'write-conflict' | 'cursor-lost' | 'forbidden',
  command: ProxiedCommand,
) {
  const body = command.body();
  const inTransaction = body['autocommit'] === false;
  const isTransient = kind === 'transient' || kind === 'write-conflict';
  const error = errorReply(kind, inTransaction && isTransient ? ['TransientTransactionError'] : []);
  if (!inTransaction || (endsTransaction.has(command.name) && !isTransient)) {
    return { replyWith: error };
  }
  const { lsid, txnNumber } = body;
  return {
    as: { abortTransaction: 1, lsid, txnNumber, autocommit: false, $db: 'admin' } as Document,
    answer: () => error,
  };
}

/** Returns the reply from a server that is no longer primary. A write is not confirmed. */
function buildInterruptedReply(command: ProxiedCommand, reply: Document): Document {
  const { autocommit, txnNumber } = command.body();
  if (autocommit === undefined && txnNumber === undefined) {
    return reply;
  }
  const isStatement = autocommit === false && !endsTransaction.has(command.name);
  return errorReply('interrupted', [isStatement ? 'TransientTransactionError' : 'RetryableWriteError']);
}

function errorReply(name: keyof typeof errors, errorLabels: string[] = []): Document {
  return {
    ok: 0,
    errmsg: 'The test plays this error',
    ...errors[name],
    ...(errorLabels.length > 0 && { errorLabels }),
  };
}

async function stepDown(target: string, ms: number): Promise<void> {
  const client = new MongoClient(target, { appName: 'mongo-faults', directConnection: true });
  try {
    const seconds = Math.ceil(ms / 1_000);
    await client
      .db('admin')
      .command({ replSetStepDown: seconds, secondaryCatchUpPeriodSecs: 0, force: true });
  } finally {
    await client.close();
  }
}

/** The running fault, passed to the callback of `withFault`. */
export interface FaultInForce {
  /** Returns how many commands the fault has affected. */
  met: () => Promise<number>;
}

/**
 * Runs `work` while the fault affects commands. Calls may be nested. An error of `work` has
 * priority.
 * @throws Error if no command was affected, because the test would then prove nothing.
 */
export async function withFault<T>(fault: Fault, work: (inForce: FaultInForce) => Promise<T>): Promise<T> {
  const started = await startFault(fault);
  const result = await work({ met: () => started.count() }).finally(() => started.end());
  if ((await started.count()) === 0) {
    throw new Error(`No ${fault.commands.join(' or ')} has met the fault ${fault.kind}`);
  }
  return result;
}

export interface RunningFault {
  /**
   * Returns how many commands were affected so far, including delayed ones that are still waiting.
   */
  count(): Promise<number>;
  /**
   * Ends the fault and returns how many commands were affected. A delayed command continues when
   * its delay is over.
   */
  end(): Promise<number>;
}

/** Starts a fault that affects commands until `end()`. */
export function startFault(fault: Fault): Promise<RunningFault> {
  const uri = new URL(fault.uri ?? env.MONGODB_URI);
  const proxied = proxies.get(uri.host);
  if (proxied === undefined) {
    throw new Error(`${uri.host} is not reached through a proxy of this module`);
  }
  if (fault.kind === 'step-down' && proxied === fileProxy) {
    throw new Error('This election would affect every test file: use a database of startPrivateMongo');
  }
  const running = { fault, appName: uri.searchParams.get('appName'), met: 0 };
  proxied.faults.add(running);
  return Promise.resolve({
    count: () => Promise.resolve(running.met),
    end() {
      proxied.faults.delete(running);
      return Promise.resolve(running.met);
    },
  });
}

interface Running {
  fault: Fault;
  appName: string | null;
  met: number;
}

/** A server with its proxy and the active faults. */
interface Proxied {
  uri: string;
  faults: Set<Running>;
  stop: () => Promise<void>;
}

/** The proxies by their host and port. */
const proxies = new Map<string, Proxied>();

async function startProxied(target: string): Promise<Proxied> {
  const faults = new Set<Running>();
  const proxy = await startMongoProxy(target, (command) => {
    for (const running of faults) {
      if (isTargeted(running, command)) {
        running.met += 1;
        return interferenceOf(running.fault, command, target);
      }
    }
    return null;
  });
  const proxied = { uri: proxy.uri, faults, stop: () => proxy.stop() };
  proxies.set(new URL(proxy.uri).host, proxied);
  return proxied;
}

function isTargeted({ fault, appName, met }: Running, command: ProxiedCommand): boolean {
  const { commands, namespace, probability, times = 1 } = fault;
  return (
    commands.includes(command.name) &&
    (appName === null || appName === command.appName) &&
    (namespace === undefined || namespace === namespaceOf(command)) &&
    (probability === undefined ? met < times : Math.random() < probability)
  );
}

function namespaceOf({ name, body }: ProxiedCommand): string {
  const command = body();
  return `${String(command['$db'])}.${String(command[name === 'getMore' ? 'collection' : name])}`;
}

/**
 * Puts a proxy that can simulate faults in front of the database. Returns the database with the
 * proxy's address.
 */
export async function withProxy(mongo: Outage): Promise<Outage> {
  const { uri, stop } = await startProxied(mongo.url);
  return {
    ...mongo,
    url: uri,
    async stop() {
      await stop();
      await mongo.stop();
    },
  };
}

let fileProxy: Proxied | undefined;

/**
 * A hook of the root suite runs before the hooks and tests of the file, so before any connection.
 * The test's own modules and the processes that the test starts therefore use the proxy's address.
 * A test file must not read MONGODB_URI earlier than in a hook.
 */
before('starts the proxy of the file', async () => {
  fileProxy = await startProxied(env.MONGODB_URI);
  env.MONGODB_URI = fileProxy.uri;
  process.env['MONGODB_URI'] = fileProxy.uri;
});
