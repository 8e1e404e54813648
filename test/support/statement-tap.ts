/** Listens in between processes and their MongoDB: what every one of them asks, as it is on the wire. */
import { createServer, connect, type Socket } from 'node:net';
import { BSON, type Document } from 'mongodb';
import { freePort } from '../../scripts/databases/ports.js';

/** A command as it was sent, with the documents that came beside its body. */
export interface SentCommand {
  name: string;
  database: string;
  collection: string;
  body: Document;
  /** Of the database transaction that it belongs to; null outside of one. */
  transaction: string | null;
}

export interface StatementTap {
  /** What processes must be given as MONGODB_URI. */
  uri: string;
  /** Commands by clients that do not call themselves `test`, in the order of their arrival. */
  readonly sent: SentCommand[];
  stop(): Promise<void>;
}

const headerBytes = 16;
const opMsg = 2013;
const opQuery = 2004;

export async function startStatementTap(to: string): Promise<StatementTap> {
  const target = new URL(to);
  const sent: SentCommand[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(Number(target.port || 27017), target.hostname);
    const read = commandReader((command) => sent.push(command));
    client.on('data', read);
    client.pipe(upstream).pipe(client);
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => other.destroy());
      socket.on('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
  });
  const port = await freePort();
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const uri = new URL(to);
  uri.host = `127.0.0.1:${port}`;
  // Otherwise the driver goes to the address that the server calls itself by.
  uri.searchParams.set('directConnection', 'true');
  return {
    uri: uri.toString(),
    sent,
    async stop() {
      sockets.forEach((each) => each.destroy());
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Takes the bytes of one connection. */
function commandReader(take: (command: SentCommand) => void): (bytes: Buffer) => void {
  let kept = Buffer.alloc(0);
  let isTest = false;
  return (bytes) => {
    kept = kept.length === 0 ? Buffer.from(bytes) : Buffer.concat([kept, bytes]);
    while (kept.length >= headerBytes && kept.length >= kept.readInt32LE(0)) {
      const length = kept.readInt32LE(0);
      const body = readBody(kept.subarray(0, length));
      kept = kept.subarray(length);
      isTest ||= (body?.['client'] as Document | undefined)?.['application']?.name === 'test';
      const command = body && !isTest ? commandOf(body) : null;
      if (command) {
        take(command);
      }
    }
  };
}

/** The one document of a command, with what was sent beside it as `documents`, `updates` or `deletes`. */
function readBody(message: Buffer): Document | null {
  const opCode = message.readInt32LE(12);
  if (opCode === opQuery) {
    // Only the handshake: flags, name, skip, limit, document.
    const nameEnd = message.indexOf(0, headerBytes + 4);
    return BSON.deserialize(message.subarray(nameEnd + 9));
  }
  if (opCode !== opMsg) {
    throw new Error(`The driver sent opcode ${opCode}: is the connection compressed?`);
  }
  let body: Document = {};
  const beside: Document = {};
  for (let at = headerBytes + 4; at < message.length;) {
    const size = message.readInt32LE(at + 1);
    const section = message.subarray(at + 1, at + 1 + size);
    if (message.readUInt8(at) === 0) {
      body = BSON.deserialize(section);
    } else {
      const nameEnd = section.indexOf(0, 4);
      beside[section.toString('utf8', 4, nameEnd)] = documentsIn(section.subarray(nameEnd + 1));
    }
    at += 1 + size;
  }
  return { ...body, ...beside };
}

function documentsIn(bytes: Buffer): Document[] {
  const documents: Document[] = [];
  for (let at = 0; at < bytes.length; at += bytes.readInt32LE(at)) {
    documents.push(BSON.deserialize(bytes.subarray(at, at + bytes.readInt32LE(at))));
  }
  return documents;
}

function commandOf(body: Document): SentCommand | null {
  const [name = ''] = Object.keys(body);
  const collection: unknown = body[name];
  if (typeof collection !== 'string') {
    return null;
  }
  const session = (body['lsid'] as { id: { toString(encoding: 'hex'): string } } | undefined)?.id;
  return {
    name,
    database: String(body['$db']),
    collection,
    body,
    transaction:
      body['autocommit'] === false ? `${session?.toString('hex') ?? ''} ${String(body['txnNumber'])}` : null,
  };
}
