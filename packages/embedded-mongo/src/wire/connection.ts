import type { Socket } from 'node:net';
import {
  HEADER_BYTES,
  MESSAGE_BYTES_MAX,
  ProtocolError,
  encodeReply,
  parseMessage,
  type Request,
} from './message.js';

/** A connection to one client. */
export interface Connection {
  readonly id: number;
  readonly socket: Socket;
  /** The `client.application.name` from the handshake. Null if the client has not sent it. */
  applicationName: string | null;
  /** True if a failpoint closes the connection instead of sending a reply. */
  isToClose: boolean;
}

/**
 * A reply. For an exhaust request it begins a stream of replies, which continues until the
 * connection is closed.
 */
export interface Reply extends ReplyDocument {
  /** Returns the next reply of the stream. Null if the request does not allow a stream. */
  next: (() => Promise<ReplyDocument>) | null;
}

/** A reply document, and BSON elements that are appended to it. */
export interface ReplyDocument {
  document: Buffer;
  tail: Buffer;
}

export interface ConnectionHandlers {
  /**
   * Processes a request and returns the reply. Null if no reply is sent. Errors of the client must
   * become replies and not exceptions.
   */
  answer: (request: Request, connection: Connection) => Promise<Reply | null>;
  closed: (connection: Connection) => void;
  /** Called with the reason if a connection was closed because of a malformed message. */
  log: (line: string) => void;
}

/**
 * Reads messages from a socket and processes them one after the other. A malformed message closes
 * only this connection. While a request is processed, at most one further message of maximum size
 * is buffered.
 */
export function serveConnection(socket: Socket, id: number, handlers: ConnectionHandlers): void {
  const connection: Connection = { id, socket, applicationName: null, isToClose: false };
  let chunks: Buffer[] = [];
  let buffered = 0;
  let isBusy = false;

  /**
   * Removes the next complete message from the chunks and returns it. Undefined if it is
   * incomplete.
   */
  const nextMessage = (): Buffer | undefined => {
    if (buffered < HEADER_BYTES) {
      return undefined;
    }
    if ((chunks[0]?.length ?? 0) < HEADER_BYTES) {
      chunks = [Buffer.concat(chunks)];
    }
    const length = chunks[0]?.readInt32LE(0) ?? 0;
    if (length < HEADER_BYTES || length > MESSAGE_BYTES_MAX) {
      throw new ProtocolError(`invalid message length: ${length} bytes`);
    }
    if (buffered < length) {
      return undefined;
    }
    const all = chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks);
    buffered -= length;
    chunks = buffered > 0 ? [all.subarray(length)] : [];
    return all.subarray(0, length);
  };

  const work = async (): Promise<void> => {
    try {
      for (let message = nextMessage(); message !== undefined && !socket.destroyed; message = nextMessage()) {
        await answerMessage(message, connection, handlers);
        if (socket.isPaused()) {
          socket.resume();
        }
      }
    } catch (error) {
      handlers.log(`connection ${id} closed: ${error instanceof Error ? error.message : String(error)}`);
      chunks = [];
      buffered = 0;
      socket.destroy();
    } finally {
      isBusy = false;
    }
  };

  socket.setNoDelay(true);
  socket.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    buffered += chunk.length;
    if (!isBusy) {
      isBusy = true;
      void work();
    } else if (buffered > MESSAGE_BYTES_MAX) {
      socket.pause();
    }
  });
  // Ignore a connection reset by the client, because the event 'close' follows.
  socket.on('error', () => undefined);
  socket.on('close', () => handlers.closed(connection));
}

async function answerMessage(
  message: Buffer,
  connection: Connection,
  handlers: ConnectionHandlers,
): Promise<void> {
  const request = parseMessage(message);
  const reply = await handlers.answer(request, connection);
  const { socket } = connection;
  if (connection.isToClose) {
    socket.destroy();
    return;
  }
  if (reply === null || request.silent || socket.destroyed) {
    return;
  }
  const { legacy, requestId } = request;
  const sent = encodeReply({ responseTo: requestId, legacy, moreToCome: reply.next !== null }, reply);
  const isFlushed = socket.write(sent.message);
  if (reply.next !== null) {
    void stream(socket, reply.next, sent.requestId);
  }
  if (!isFlushed) {
    await waitForDrain(socket);
  }
}

/** Sends an exhaust stream. Each reply refers to the previous reply. */
async function stream(socket: Socket, next: () => Promise<ReplyDocument>, firstId: number): Promise<void> {
  let responseTo = firstId;
  for (;;) {
    const reply = await next();
    if (socket.destroyed) {
      return;
    }
    const { message, requestId } = encodeReply({ responseTo, legacy: false, moreToCome: true }, reply);
    socket.write(message);
    responseTo = requestId;
  }
}

/** Resolves once the client has read its replies. No further request is processed until then. */
function waitForDrain(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      socket.off('drain', done);
      socket.off('close', done);
      resolve();
    };
    if (socket.destroyed) {
      resolve();
      return;
    }
    socket.once('drain', done);
    socket.once('close', done);
  });
}
