import { AsyncResource } from 'node:async_hooks';
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import net, { type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { limits } from '../../../config/limits.js';
import { buildUnreadableRequestResponse } from './error-envelope.js';
import { endStalledResponses } from './stalled-responses.js';

/** The rest of this one, one that takes connections, one that reads. */
const turnsToRead = 3;

interface Waiting {
  response: ServerResponse;
  /** Nothing is taken from its connection behind it. */
  isLast: boolean;
  handle: () => void;
}

/** A connection, from its first request on until nothing waits on it any more. */
interface ConnectionQueue {
  /** What is handled just now. */
  current: ServerResponse | null;
  /** What came meanwhile (pipelined). */
  waiting: Waiting[];
  /** Something is handled, or is just about to be. */
  isBusy: boolean;
  /** What comes behind it cannot be read: then nothing of it is done, and the connection ends. */
  isBroken: boolean;
}

/** How long an answer may stand still of which its client takes nothing, and when the server closes. */
interface Times {
  stillMs?: number;
  atStopMs?: number;
}

/** Of the server. */
interface ServerState {
  /** Each answer ends its connection. */
  isLast: boolean;
  /** Nothing begins any more. */
  isClosing: boolean;
}

/**
 * Handles the requests of each connection one after the other. Node hands over all that came in one packet at once: a packet
 * of 58 kB could so hold a process for 20 s, and of a response that never got the connection nobody hears that it is over.
 * What has not begun when its connection breaks, or when the server closes, is not done at all.
 * @returns what closes the server although clients keep their connections: each answer that is under way ends its own, with
 *   `Connection: close` where there is still time for it; those on which nothing is under way end at once.
 */
export function handleSequentially(
  server: Server,
  handle: RequestListener,
  { stillMs = limits.stillConnectionMs, atStopMs = limits.stillAtStopMs }: Times = {},
): { close(): Promise<void> } {
  const lines = trackConnections(server);
  // Who takes nothing of its answer would hold its connection without end.
  const answers = endStalledResponses(() => lines.keys(), { stillMs, atStopMs });
  const stage: ServerState = { isLast: false, isClosing: false };

  const goOn = (socket: Socket, line: ConnectionQueue): void => {
    const next = line.waiting.shift();
    if (next === undefined) {
      line.isBusy = false;
      return;
    }
    // Its answer could not be written: the one before ended the connection, or another holds it.
    if (stage.isClosing || line.isBroken || !socket.writable || next.response.socket !== socket) {
      socket.destroy();
      return;
    }
    line.current = next.response;
    line.isBroken = next.isLast;
    if (stage.isLast || next.isLast) {
      closeAfterResponse(next.response);
    }
    next.response.once('close', () => {
      line.current = null;
      if (stage.isClosing || line.isBroken) {
        socket.destroySoon();
      } else if (line.waiting.length > 0) {
        // Others have their turn in between.
        setImmediate(goOn, socket, line);
      } else {
        line.isBusy = false;
      }
    });
    next.handle();
  };

  const take = (request: IncomingMessage, response: ServerResponse): void => {
    const { socket } = request;
    const line = lines.get(socket);
    if (line === undefined || line.waiting.length >= limits.pipelinedMax) {
      socket.destroy();
      return;
    }
    dropBodyHeaders(request);
    const begin = () => handle(request, response);
    // What waits begins by the end of another: it must not be taken for a part of that (tracing).
    line.waiting.push({
      response,
      // Node drops what came in the same packet behind it, and would read on in the middle of another request.
      isLast: request.headers.upgrade !== undefined,
      handle: line.isBusy ? AsyncResource.bind(begin) : begin,
    });
    if (!line.isBusy) {
      line.isBusy = true;
      goOn(socket, line);
    }
  };

  server.on('request', take);
  // Node would answer what it does not know by itself (417), past the line: we expect nothing, and say so by the answer.
  server.on('checkExpectation', take);
  handleUnreadableRequests(server, lines);
  return { close: () => closeInOrder(server, lines, { answers, stage }) };
}

async function closeInOrder(
  server: Server,
  lines: Map<Socket, ConnectionQueue>,
  { answers, stage }: { answers: ReturnType<typeof endStalledResponses>; stage: ServerState },
): Promise<void> {
  stage.isLast = true;
  for (const { current } of lines.values()) {
    closeAfterResponse(current);
  }
  await readPendingRequests();
  stage.isClosing = true;
  const closed = stopListening(server);
  destroyConnectionsWhere(lines, ({ current }) => current === null);
  const unsent = setTimeout(destroyConnectionsWhere, limits.bodyAtStopMs, lines, isWaitingForBody);
  answers.hurry();
  await closed;
  clearTimeout(unsent);
  answers.stop();
}

/** Of the connections that there are. */
function trackConnections(server: Server): Map<Socket, ConnectionQueue> {
  const lines = new Map<Socket, ConnectionQueue>();
  server.on('connection', (socket) => {
    lines.set(socket, { current: null, waiting: [], isBusy: false, isBroken: false });
    socket.once('close', () => lines.delete(socket));
  });
  return lines;
}

function handleUnreadableRequests(server: Server, lines: Map<Socket, ConnectionQueue>): void {
  server.on('clientError', (error, socket) => {
    rejectUnreadable(error, socket, lines.get(socket as Socket));
  });
  // Node would end it at once, and what is under way on it with that.
  server.on('connect', (_request, socket) => {
    const line = lines.get(socket as Socket);
    rejectUnreadable(new Error('This is no proxy'), socket, line);
    // Node has let go of it: nobody else tells the answer that there is room again, or sees the client go.
    socket.on('drain', () => line?.current?.emit('drain'));
    socket.on('end', () => socket.end());
    socket.on('error', () => undefined);
    socket.resume();
  });
}

function closeAfterResponse(response: ServerResponse | null): void {
  if (response !== null && !response.headersSent) {
    response.setHeader('Connection', 'close');
  }
}

/** What clients have sent already: a turn of the loop takes their connections, the next one reads from them. */
async function readPendingRequests(): Promise<void> {
  for (let turn = 0; turn < turnsToRead; turn += 1) {
    await nextTurn();
  }
}

/**
 * Node's own for HTTP also cuts what has its end and is not yet written, and looks for slow clients no more.
 * @returns resolves when all connections have ended.
 */
function stopListening(server: Server): Promise<void> {
  return new Promise((resolve) => {
    net.Server.prototype.close.call(server, () => resolve());
  });
}

function destroyConnectionsWhere(
  lines: Map<Socket, ConnectionQueue>,
  is: (line: ConnectionQueue) => boolean,
): void {
  for (const [socket, line] of lines) {
    if (is(line)) {
      socket.destroy();
    }
  }
}

/**
 * A GET or HEAD is answered by its address: what it says of a body is taken from it, so that no parser waits for one that never
 * comes, and its connection ends with its answer.
 */
function dropBodyHeaders({ method, headers }: IncomingMessage): void {
  if (bodilessMethods.has(method ?? '')) {
    delete headers['content-length'];
    delete headers['transfer-encoding'];
  }
}

/** It waits for the body, which its client has not sent yet: nothing of it is done. A GET waits for none, and may buy. */
function isWaitingForBody({ current }: ConnectionQueue): boolean {
  return (
    current !== null &&
    !current.req.complete &&
    !current.headersSent &&
    !bodilessMethods.has(current.req.method ?? '')
  );
}

const bodilessMethods: ReadonlySet<string> = new Set(['GET', 'HEAD']);

/**
 * What Node could not read, or not in time. It would be answered in place of what is under way, whose client must not take
 * "400" for the answer of a purchase that is made: that is answered first, and the connection ends with it.
 */
function rejectUnreadable(
  error: NodeJS.ErrnoException,
  socket: Duplex,
  line: ConnectionQueue | undefined,
): void {
  if (line?.isBusy && !isWaitingForBody(line)) {
    line.isBroken = true;
    closeAfterResponse(line.current);
    return;
  }
  if (socket.writable) {
    socket.write(buildUnreadableRequestResponse(error));
  }
  socket.destroy();
}
