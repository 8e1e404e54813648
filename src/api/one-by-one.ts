import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { limits } from '../../config/limits.js';

/** A connection: what is handled on it just now, and what came meanwhile (pipelined). */
interface Line {
  current: ServerResponse | null;
  waiting: [IncomingMessage, ServerResponse][];
}

/**
 * Handles the requests of each connection one after the other. Node hands over all that came in one packet at once: a packet
 * of 58 kB could so hold a process for 20 s, and of a response that never got the connection nobody hears that it is over.
 * What has not begun when its connection breaks, or when the server closes, is not done at all.
 * @returns what closes the server although clients keep their connections: each answer that is under way ends its own, with
 *   `Connection: close` where there is still time for it; those on which nothing is under way end at once.
 */
export function oneByOne(server: Server, handle: RequestListener): { close(): Promise<void> } {
  const lines = new Map<Socket, Line>();
  let isClosing = false;

  const begin = (line: Line, request: IncomingMessage, response: ServerResponse): void => {
    const { socket } = response;
    // The answer before has ended the connection, or its client has.
    if (socket === null || socket.destroyed) {
      return;
    }
    line.current = response;
    response.once('close', () => {
      line.current = null;
      if (isClosing) {
        socket.destroySoon();
        return;
      }
      const next = line.waiting.shift();
      if (next) {
        // Others have their turn in between.
        setImmediate(() => {
          begin(line, ...next);
        });
      }
    });
    if (isClosing) {
      endsConnection(response);
    }
    handle(request, response);
  };

  server.on('connection', (socket) => {
    lines.set(socket, { current: null, waiting: [] });
    socket.once('close', () => lines.delete(socket));
  });
  server.on('request', (request, response) => {
    const line = lines.get(request.socket);
    if (line === undefined) {
      return;
    }
    if (line.current === null && line.waiting.length === 0) {
      begin(line, request, response);
    } else if (line.waiting.length < limits.pipelinedMax) {
      line.waiting.push([request, response]);
    } else {
      request.socket.destroy();
    }
  });
  return {
    async close() {
      isClosing = true;
      const closed = new Promise((resolve) => server.close(resolve));
      for (const [socket, { current }] of lines) {
        if (current === null) {
          socket.destroySoon();
        } else {
          endsConnection(current);
        }
      }
      await closed;
    },
  };
}

function endsConnection(response: ServerResponse): void {
  if (!response.headersSent) {
    response.setHeader('Connection', 'close');
  }
}
