import { randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { Binary, deserialize, serialize, type Document } from 'bson';

/** A connection without a driver, for messages that a driver never sends. */
export interface RawConnection {
  socket: Socket;
  /** Sends a command and resolves to its reply. */
  run: (command: Document) => Promise<Document>;
  /** Resolves to the next complete message from the server. */
  read: () => Promise<Buffer>;
  /** Resolves once the server has closed the connection. */
  closed: Promise<void>;
  close: () => void;
}

export function openRaw(port: number): Promise<RawConnection> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    let buffered = Buffer.alloc(0);
    const waiting: { resolve: (message: Buffer) => void; reject: (error: Error) => void }[] = [];
    const deliver = (): void => {
      while (waiting.length > 0 && buffered.length >= 4 && buffered.length >= buffered.readInt32LE(0)) {
        const length = buffered.readInt32LE(0);
        waiting.shift()?.resolve(buffered.subarray(0, length));
        buffered = buffered.subarray(length);
      }
    };
    socket.on('data', (chunk) => {
      buffered = Buffer.concat([buffered, chunk]);
      deliver();
    });
    const closed = new Promise<void>((done) => socket.once('close', () => done()));
    void closed.then(() => {
      for (const { reject: fail } of waiting) {
        fail(new Error('the server closed the connection'));
      }
    });
    socket.on('error', (error) => {
      reject(error);
    });
    const read = (): Promise<Buffer> =>
      new Promise((done, fail) => {
        waiting.push({ resolve: done, reject: fail });
        deliver();
      });
    socket.once('connect', () =>
      resolve({
        socket,
        read,
        closed,
        async run(command) {
          socket.write(message(command));
          return replyOf(await read());
        },
        close: () => socket.destroy(),
      }),
    );
  });
}

/** Runs one command on a separate connection. */
export async function runRaw(port: number, command: Document): Promise<Document> {
  const connection = await openRaw(port);
  try {
    return await connection.run(command);
  } finally {
    connection.close();
  }
}

export function newSessionId(): Document {
  const bytes = randomBytes(16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  return { id: new Binary(bytes, Binary.SUBTYPE_UUID) };
}

let lastId = 0;

/** Builds an OP_MSG message with the command as its body. */
export function message(command: Document, flags = 0): Buffer {
  const body = serialize(command);
  const head = Buffer.alloc(21);
  head.writeInt32LE(21 + body.length, 0);
  lastId += 1;
  head.writeInt32LE(lastId, 4);
  head.writeInt32LE(2013, 12);
  head.writeUInt32LE(flags, 16);
  return Buffer.concat([head, body]);
}

export function replyOf(reply: Buffer): Document {
  return deserialize(reply.subarray(21));
}
