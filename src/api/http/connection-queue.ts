import { AsyncResource } from 'node:async_hooks';
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import net, { type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { limits } from '../../../config/limits.js';
import { buildUnreadableRequestResponse } from './error-envelope.js';
import { endStalledResponses } from './stalled-responses.js';

/**
 * Event loop iterations until pending requests are read: the rest of the current iteration, one
 * that accepts connections and one that reads.
 */
const turnsToRead = 3;

interface WaitingRequest {
  response: ServerResponse;
  /** True if no later request is read from the connection. */
  isLast: boolean;
  handle: () => void;
}

/** The request queue of one connection. */
interface ConnectionQueue {
  /** The response in progress. */
  current: ServerResponse | null;
  /** Pipelined requests that arrived while another request was in progress. */
  waiting: WaitingRequest[];
  /** True while a request is being handled or is scheduled. */
  isBusy: boolean;
  /**
   * True if the client sent input that could not be parsed. Later input is not executed, and the
   * connection is closed.
   */
  isBroken: boolean;
}

/** Stall timeouts: how long a client may read none of its response. */
interface StallTimeouts {
  /** During normal operation, in milliseconds. */
  stillMs?: number;
  /** While the server closes, in milliseconds. */
  atStopMs?: number;
}

interface ServerState {
  /** True if every response closes its connection. */
  isLast: boolean;
  /** True if no new request begins. */
  isClosing: boolean;
}

/**
 * Handles the requests of each connection one after the other. Requests that have not begun when
 * the connection breaks or the server closes are not executed.
 *
 * Node hands over all requests of a packet at once. Without the queue, a packet of 58 kB blocks a
 * process for 20 s. A response to which Node never assigns the connection emits no `close`.
 *
 * @returns `close`, which stops the server even if clients keep connections open. Idle connections
 * end at once. Busy connections end after the response in progress, which says `Connection: close`
 * if its headers have not been sent.
 */
export function handleSequentially(
  server: Server,
  handle: RequestListener,
  { stillMs = limits.stillConnectionMs, atStopMs = limits.stillAtStopMs }: StallTimeouts = {},
): { close(): Promise<void> } {
  const lines = trackConnections(server);
  // A client that reads nothing of its response would hold its connection forever.
  const answers = endStalledResponses(() => lines.keys(), { stillMs, atStopMs });
  const stage: ServerState = { isLast: false, isClosing: false };

  const goOn = (socket: Socket, line: ConnectionQueue): void => {
    const next = line.waiting.shift();
    if (next === undefined) {
      line.isBusy = false;
      return;
    }
    // The previous response ended the connection, or another response still holds the socket.
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
        // Lets the requests of other connections run before the next request of this connection.
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
    // A waiting request begins in the callback of another one. Tracing must not nest it in that
    // request's span.
    line.waiting.push({
      response,
      // After an upgrade request, Node drops the rest of the packet and would resume in the middle
      // of another request.
      isLast: request.headers.upgrade !== undefined,
      handle: line.isBusy ? AsyncResource.bind(begin) : begin,
    });
    if (!line.isBusy) {
      line.isBusy = true;
      goOn(socket, line);
    }
  };

  server.on('request', take);
  // Without this listener, Node responds 417 itself, outside the queue. Here the expectation is
  // ignored.
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
  answers.shortenTimeout();
  await closed;
  clearTimeout(unsent);
  answers.stop();
}

/** Tracks the queues of open connections. */
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
  // Without this listener, Node closes the connection on CONNECT, including the response in
  // progress.
  server.on('connect', (_request, socket) => {
    const line = lines.get(socket as Socket);
    rejectUnreadable(new Error('This server is not a proxy'), socket, line);
    // Node has detached the socket, so `drain` and `end` are handled here.
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

/**
 * Waits until requests that clients have already sent are read. One event loop iteration accepts
 * their connections, and the next one reads.
 */
async function readPendingRequests(): Promise<void> {
  for (let turn = 0; turn < turnsToRead; turn += 1) {
    await nextTurn();
  }
}

/**
 * Closes only the listening socket. `close` of the HTTP server would also cut off responses that
 * are not yet fully written, and would stop the checks for slow clients.
 * @returns Resolves when all connections have ended.
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
 * Removes the body headers of GET and HEAD, so that no parser waits for a body that never comes.
 * The connection ends with the response.
 */
function dropBodyHeaders({ method, headers }: IncomingMessage): void {
  if (bodilessMethods.has(method ?? '')) {
    delete headers['content-length'];
    delete headers['transfer-encoding'];
  }
}

/**
 * True if the client has not sent the whole body, so no operation has begun. A GET does not wait
 * for a body and may already be executing a purchase.
 */
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
 * Handles input that Node could not parse, or that timed out. A request in progress gets its
 * response first, and then the connection is closed. Otherwise the client could mistake the 400 for
 * the response to its purchase.
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
