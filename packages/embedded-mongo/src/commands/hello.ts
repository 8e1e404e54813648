import { Double, Long } from 'bson';
import { setTimeout as delay } from 'node:timers/promises';
import type { Doc } from '../values/types.js';
import type { Connection } from '../wire/connection.js';
import type { Request } from '../wire/message.js';
import type { CommandContext, CommandResult, Server } from './context.js';
import { docField, numberField } from './fields.js';

/** The wire protocol of MongoDB 7.0. */
const MAX_WIRE_VERSION = 21;

export function hello(context: CommandContext): CommandResult {
  const application = docField(docField(context.command, 'client') ?? {}, 'application');
  if (typeof application?.['name'] === 'string') {
    context.connection.applicationName = application['name'];
  }
  return helloReply(context.server, context.connection, { legacyName: context.name !== 'hello' });
}

/** True for a hello that is to be answered only when its time is over (drivers' monitoring). */
export function isAwaitableHello({ command, legacy }: Request, name: string): boolean {
  const isHello = name === 'hello' || name === 'ismaster' || name === 'isMaster';
  return (
    isHello &&
    !legacy &&
    docField(command, 'topologyVersion') !== undefined &&
    command['maxAwaitTimeMS'] !== undefined
  );
}

/** The reply when the time of an awaitable hello is over. */
export async function nextHello(server: Server, connection: Connection, command: Doc): Promise<Doc> {
  // Unreferenced, so that waiting clients don't keep a stopped server's process alive.
  await delay(numberField(command, 'maxAwaitTimeMS', 10_000), undefined, { ref: false });
  return helloReply(server, connection, { legacyName: false });
}

/** The topology of one member never changes. */
export function topologyVersionOf({ processId }: Server): Doc {
  return { processId, counter: Long.fromNumber(6) };
}

function helloReply(server: Server, connection: Connection, { legacyName }: { legacyName: boolean }): Doc {
  const clusterTime = server.clock.at(server.store.clock);
  return {
    ...(legacyName ? { ismaster: true } : {}),
    helloOk: true,
    topologyVersion: topologyVersionOf(server),
    hosts: [server.address],
    setName: server.setName,
    setVersion: 1,
    isWritablePrimary: true,
    secondary: false,
    primary: server.address,
    me: server.address,
    lastWrite: {
      opTime: { ts: clusterTime, t: Long.fromNumber(1) },
      lastWriteDate: new Date(),
      majorityOpTime: { ts: clusterTime, t: Long.fromNumber(1) },
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
