import { Double, Long, ObjectId } from 'bson';
import { waitForStateChange, electionIdOf, termOf } from '../election.js';
import type { Doc } from '../values/types.js';
import type { Connection } from '../wire/connection.js';
import type { Request } from '../wire/message.js';
import type { CommandContext, CommandResult, Server } from './context.js';
import { docField, numberField } from './fields.js';

/** The wire version of MongoDB 7.0. */
const MAX_WIRE_VERSION = 21;

export function hello(context: CommandContext): CommandResult {
  const application = docField(docField(context.command, 'client') ?? {}, 'application');
  if (typeof application?.['name'] === 'string') {
    context.connection.applicationName = application['name'];
  }
  return helloReply(context.server, context.connection, { legacyName: context.name !== 'hello' });
}

/**
 * True for a `hello` that contains a topology version and a wait time. Its reply is delayed until
 * the topology changes or the wait time ends.
 */
export function isAwaitableHello({ command, legacy }: Request, name: string): boolean {
  const isHello = name === 'hello' || name === 'ismaster' || name === 'isMaster';
  return (
    isHello &&
    !legacy &&
    docField(command, 'topologyVersion') !== undefined &&
    command['maxAwaitTimeMS'] !== undefined
  );
}

/**
 * Returns a function that waits for the next reply to an awaitable `hello`. Drivers use such
 * commands to monitor the server.
 */
export function createHelloStream(server: Server, connection: Connection, command: Doc): () => Promise<Doc> {
  const { election, processId } = server;
  const asked = docField(command, 'topologyVersion') ?? {};
  const isOfUs = asked['processId'] instanceof ObjectId && asked['processId'].equals(processId);
  let known = isOfUs ? numberField(asked, 'counter', -1) : -1;
  const limitMs = numberField(command, 'maxAwaitTimeMS', 10_000);
  return async () => {
    await waitForStateChange(election, { version: known, limitMs });
    known = election.version;
    return helloReply(server, connection, { legacyName: false });
  };
}

/**
 * Returns the version of the server's topology state. A driver ignores a reply with an older
 * version than the newest that it has received.
 */
export function topologyVersionOf({ processId, election }: Server): Doc {
  return { processId, counter: Long.fromNumber(election.version) };
}

function helloReply(server: Server, connection: Connection, { legacyName }: { legacyName: boolean }): Doc {
  const { clock, store, election, address } = server;
  const { isPrimary } = election;
  const newest = clock.at(store.clock);
  const opTime = { ts: newest, t: termOf(election) };
  return {
    ...(legacyName ? { ismaster: isPrimary } : {}),
    helloOk: true,
    topologyVersion: topologyVersionOf(server),
    hosts: [address],
    setName: server.setName,
    setVersion: 1,
    isWritablePrimary: isPrimary,
    secondary: !isPrimary,
    ...(isPrimary ? { primary: address, electionId: electionIdOf(election) } : {}),
    me: address,
    lastWrite: {
      opTime,
      lastWriteDate: new Date(),
      majorityOpTime: { ...opTime, ts: store.majority.time ?? newest },
      majorityWriteDate: new Date(),
    },
    maxBsonObjectSize: 16_777_216,
    maxMessageSizeBytes: 48_000_000,
    maxWriteBatchSize: 100_000,
    localTime: new Date(),
    logicalSessionTimeoutMinutes: 30,
    connectionId: connection.id,
    minWireVersion: 0,
    maxWireVersion: MAX_WIRE_VERSION,
    readOnly: false,
    ok: new Double(1),
  };
}
