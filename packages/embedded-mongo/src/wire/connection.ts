import type { Socket } from 'node:net';
import {
  HEADER_BYTES,
  MESSAGE_BYTES_MAX,
  ProtocolError,
  encodeReply,
  parseMessage,
  type Request,
} from './message.js';

/** One client connection. */
export interface Connection {
  readonly id: number;
  readonly socket: Socket;
  /** `client.application.name` of the handshake. */
  applicationName: string | null;
  /** True if a failpoint closes it instead of sending a reply. */
  isToClose: boolean;
}

/** One reply or, for an exhaust request, a stream of replies until the connection ends. */
export interface Reply extends ReplyDocument {
  /** Returns the next reply of the stream. Null unless the request allowed a stream. */
  next: (() => Promise<ReplyDocument>) | null;
}

/** A reply document, and elements to append to it. */
export interface ReplyDocument {
  document: Buffer;
  tail: Buffer;
}

export interface ConnectionHandlers {
  /** Answers a request; null sends no reply. Must not throw for client errors. */
  answer: (request: Request, connection: Connection) => Promise<Reply | null>;
  closed: (connection: Connection) => void;
  /** Called with the reason when a malformed message closes a connection. */
  log: (line: string) => void;
}

/**
 * Reads messages from a socket and answers them one after the other. A malformed message closes
 * only this connection. While an answer is in progress, at most one message of further input is
 * buffered.
 */
export function serveConnection(socket: Socket, id: number, handlers: ConnectionHandlers): void {
  const connection: Connection = { id, socket, applicationName: null, isToClose: false };
  let chunks: Buffer[] = [];
  let buffered = 0;
  let isBusy = false;

  /** Removes the next complete message from the chunks, or returns undefined. */
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
  // Ignore a reset by the client; 'close' follows it.
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

/** Sends an exhaust stream. Each reply responds to the previous one. */
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

/** Backpressure: no more requests are processed until the client reads its replies. */
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
