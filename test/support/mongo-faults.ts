/** Faults of a real MongoDB deployment at chosen commands, played by the failpoints of the embedded database. */
import { randomUUID } from 'node:crypto';
import { MongoClient, type Db, type Document } from 'mongodb';

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
   * of a test file and of a stack do, only clients with that name meet the fault: files run beside each other.
   */
  uri?: string;
}

const dataOf: Record<FaultKind, (ms: number | undefined) => Document> = {
  'reply-lost': () => ({ closeConnectionAfter: true }),
  silence: () => ({ dropReplyAfter: true }),
  'unlabelled-error': () => ({ errorCodeAfter: 11602, errorLabels: [] }),
  'write-concern-timeout': () => ({
    writeConcernError: {
      code: 64,
      codeName: 'WriteConcernTimeout',
      errmsg: 'waiting for replication timed out',
      errInfo: { wtimeout: true },
    },
  }),
  'step-down': (ms = 8_000) => ({ stepDownAfter: ms / 1_000 }),
  pause: (ms = 1_000) => ({ blockConnection: true, blockTimeMS: ms }),
  refused: () => ({ closeConnection: true }),
  transient: () => ({ errorCode: 251 }),
  'write-conflict': () => ({ errorCode: 112 }),
  'cursor-lost': () => ({ errorCode: 43 }),
  forbidden: () => ({ errorCode: 13 }),
};

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
  const result = await work({ met: () => started.count() }).catch(async (error: unknown) => {
    await started.end();
    throw error;
  });
  if ((await started.end()) === 0) {
    throw new Error(`No ${fault.commands.join(' or ')} has met the fault ${fault.kind}`);
  }
  return result;
}

export interface RunningFault {
  /** How many commands have met it so far, those that it holds back just now among them. */
  count(): Promise<number>;
  /** @returns how many have met it; so too if it was ended before. Those that it holds back go on when their time is over. */
  end(): Promise<number>;
}

/** From now on commands meet the fault, until it is ended. */
export async function startFault(fault: Fault): Promise<RunningFault> {
  const uri = uriOf(fault.uri);
  if (fault.kind === 'step-down' && new URL(uri).host === new URL(uriOf(undefined)).host) {
    throw new Error('Every test file would feel this election: play it on a database of startPrivateMongo');
  }
  const client = adminClient(uri);
  const admin = client.db('admin');
  const configureFailPoint = `failCommand.${randomUUID()}`;
  const appName = new URL(uri).searchParams.get('appName');
  await admin.command({
    configureFailPoint,
    mode:
      fault.probability === undefined
        ? { times: fault.times ?? 1 }
        : { activationProbability: fault.probability },
    data: {
      failCommands: fault.commands,
      ...(appName !== null && { appName }),
      ...(fault.namespace !== undefined && { namespace: fault.namespace }),
      ...dataOf[fault.kind](fault.ms),
    },
  });
  let ended: Promise<number> | undefined;
  return {
    async count() {
      const name = `failpoint.${configureFailPoint}`;
      const found = await admin.command({ getParameter: 1, [name]: 1 });
      return (found[name] as { timesEntered: number }).timesEntered;
    },
    end() {
      ended ??= admin
        .command({ configureFailPoint, mode: 'off' })
        .then(({ count }) => Number(count))
        .finally(() => client.close());
      return ended;
    },
  };
}

/** For `before`: skips the tests where they run on a database that can't be made to fail, such as a given mongod. */
export async function skipWithoutFaults(context: Mocha.Context, uri?: string): Promise<void> {
  const { modules } = await withAdmin(uriOf(uri), (admin) => admin.command({ buildInfo: 1 }));
  if (!(modules as string[]).includes('embedded-mongo')) {
    process.stdout.write(
      '    skipped: the faults of these tests are played by packages/embedded-mongo alone\n',
    );
    context.skip();
  }
}

function uriOf(given: string | undefined): string {
  const uri = given ?? process.env['MONGODB_URI'];
  if (!uri) {
    throw new Error('MONGODB_URI is not set: run the tests with npm test');
  }
  return uri;
}

/** A client with a name of its own, which meets no fault, and which does not need a primary. */
function adminClient(uri: string): MongoClient {
  return new MongoClient(uri, { appName: 'mongo-faults', readPreference: 'nearest' });
}

async function withAdmin<T>(uri: string, use: (admin: Db) => Promise<T>): Promise<T> {
  const client = adminClient(uri);
  try {
    return await use(client.db('admin'));
  } finally {
    await client.close();
  }
}
