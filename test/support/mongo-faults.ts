/**
 * Faults of a real MongoDB deployment at chosen commands. A proxy in the process of the test plays them, so that they
 * are the same on every server: a test file that imports this module reaches its MongoDB through the proxy.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { MongoClient, type Document } from 'mongodb';
import { env } from '../../config/env.js';
import { startMongoProxy, type Interference, type ProxiedCommand } from './mongo-proxy.js';
import type { Outage } from './outage.js';

/** What goes wrong with a command. Of those that say so the command takes effect first. */
export type FaultKind =
  /** It takes effect; the connection is cut instead of a reply. */
  | 'reply-lost'
  /** It takes effect; no reply comes, and the connection stays open. */
  | 'silence'
  /** It takes effect, and the answer is an error that no label says anything about. */
  | 'unlabelled-error'
  /** It takes effect; a majority has not confirmed it in time. */
  | 'write-concern-timeout'
  /** It takes effect, and the primary steps down, for `ms`. All clients of the server meet that. */
  | 'step-down'
  /** It is held back for `ms`, and done then. */
  | 'pause'
  /** The connection is cut, and nothing is done. */
  | 'refused'
  /** The transaction is gone, as when its lifetime was over. */
  | 'transient'
  /** The transaction met another. */
  | 'write-conflict'
  /** A `getMore` finds its cursor gone, as after 10 idle minutes. */
  | 'cursor-lost'
  /** The user has no right to it. */
  | 'forbidden';

export interface Fault {
  /** Names as in the wire protocol, such as `commitTransaction`. */
  commands: readonly string[];
  kind: FaultKind;
  /** `database.collection`: only commands about it. */
  namespace?: string;
  /** How many commands meet it, 1 without this; or instead the probability of 1 that one does. */
  times?: number;
  probability?: number;
  /** 1 s for a pause, 8 s for an election, without this. */
  ms?: number;
  /**
   * The database under test, by default the one of the test file (MONGODB_URI). Where it names an `appName`, as those
   * of a test file and of a stack do, only clients with that name meet the fault.
   */
  uri?: string;
}

/** Errors as a server answers them. */
const errors = {
  forbidden: { code: 13, codeName: 'Unauthorized' },
  'cursor-lost': { code: 43, codeName: 'CursorNotFound' },
  'write-conflict': { code: 112, codeName: 'WriteConflict' },
  transient: { code: 251, codeName: 'NoSuchTransaction' },
  interrupted: { code: 11602, codeName: 'InterruptedDueToReplStateChange' },
} as const;

const endsTransaction: ReadonlySet<string> = new Set(['commitTransaction', 'abortTransaction']);

/** How the proxy plays a fault. @param target The server itself. */
function interferenceOf({ kind, ms }: Fault, command: ProxiedCommand, target: string): Interference {
  switch (kind) {
    case 'reply-lost':
      return { answer: () => 'cut' };
    case 'silence':
      return { answer: () => 'silence' };
    case 'unlabelled-error':
      return { answer: ifDone(() => errorReply('interrupted')) };
    case 'write-concern-timeout':
      return { answer: ifDone((reply) => ({ ...reply, writeConcernError: notConfirmed })) };
    case 'step-down':
      return {
        answer: async (reply) => {
          await stepDown(target, ms ?? 8_000);
          return ifDone(() => interrupted(command, reply))(reply);
        },
      };
    case 'pause':
      return { held: delay(ms ?? 1_000, undefined, { ref: false }) };
    case 'refused':
      return { instead: 'cut' };
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

/** A command that failed by itself keeps its own error. */
function ifDone(answer: (reply: Document) => Document): (reply: Document) => Document {
  return (reply) => (Number(reply['ok']) === 1 ? answer(reply) : reply);
}

/** The command does not take effect. An error that ends the transaction ends it on the server as well, with its locks. */
function refusal(
  kind: 'transient' | 'write-conflict' | 'cursor-lost' | 'forbidden',
  command: ProxiedCommand,
) {
  const body = command.body();
  const inTransaction = body['autocommit'] === false;
  const isTransient = kind === 'transient' || kind === 'write-conflict';
  const error = errorReply(kind, inTransaction && isTransient ? ['TransientTransactionError'] : []);
  if (!inTransaction || (endsTransaction.has(command.name) && !isTransient)) {
    return { instead: error };
  }
  const { lsid, txnNumber } = body;
  return {
    as: { abortTransaction: 1, lsid, txnNumber, autocommit: false, $db: 'admin' } as Document,
    answer: () => error,
  };
}

/** A write whose server is no primary any more is not confirmed. */
function interrupted(command: ProxiedCommand, reply: Document): Document {
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

/** What `work` may ask about its fault. */
export interface FaultInForce {
  /** How many commands have met it until now. */
  met: () => Promise<number>;
}

/**
 * Runs `work` while commands meet the fault. Several may be in force at once, one in the other.
 * @throws Error when no command has met it: such a test would say nothing. What `work` throws goes first.
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
  /** How many commands have met it so far, those that it holds back just now among them. */
  count(): Promise<number>;
  /** @returns how many have met it. Those that it holds back go on when their time is over. */
  end(): Promise<number>;
}

/** From now on commands meet the fault, until it is ended. */
export function startFault(fault: Fault): Promise<RunningFault> {
  const uri = new URL(fault.uri ?? env.MONGODB_URI);
  const proxied = proxies.get(uri.host);
  if (proxied === undefined) {
    throw new Error(`${uri.host} is not reached through a proxy of this module`);
  }
  if (fault.kind === 'step-down' && proxied === ofFile) {
    throw new Error('Every test file would feel this election: play it on a database of startPrivateMongo');
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

/** A server that is reached through a proxy, and the faults there. */
interface Proxied {
  uri: string;
  faults: Set<Running>;
  stop: () => Promise<void>;
}

/** By the host of the proxy. */
const proxies = new Map<string, Proxied>();

async function startProxied(target: string): Promise<Proxied> {
  const faults = new Set<Running>();
  const proxy = await startMongoProxy(target, (command) => {
    for (const running of faults) {
      if (isMeant(running, command)) {
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

function isMeant({ fault, appName, met }: Running, command: ProxiedCommand): boolean {
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

/** The same database at an address where faults can be played. */
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

/** Before anything connects: processes that the test starts, and the modules of its own process, use this address. */
const ofFile = await startProxied(env.MONGODB_URI);
env.MONGODB_URI = ofFile.uri;
process.env['MONGODB_URI'] = ofFile.uri;
