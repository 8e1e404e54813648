import { Duplex } from 'node:stream';
import type { Socket } from 'node:net';

const headBytesMax = 16_384;
/** Without 101, which changes the protocol. undici refuses it. */
const informationalLine = /^HTTP\/1\.[01] 1(?!01)\d\d[ \r]/;
const lineStarts = ['HTTP/1.0 1', 'HTTP/1.1 1'];
const lineLength = 'HTTP/1.1 100 '.length;

const unusedChecks = new WeakMap<object, () => boolean>();

/**
 * True if the connection is open and the other side has sent nothing. A response before the request
 * cannot be its answer, and undici would reconnect endlessly because of it.
 */
export function isUnusedConnection(socket: Socket): boolean {
  return unusedChecks.get(socket)?.() ?? !socket.destroyed;
}

/**
 * Passes the bytes of a connection on, without informational responses such as `100 Continue`. Old
 * web servers send it although nobody asked. HTTP requires clients to skip it (RFC 9110, section
 * 15.2), but undici fails the call with "bad response".
 */
export function skipInformational(socket: Socket): Socket {
  const filter = createFilter();
  let hasEnded = false;
  const stream = new Duplex({
    allowHalfOpen: false,
    read: () => void socket.resume(),
    write: (chunk: Buffer, _encoding, done) => {
      filter.expectResponse();
      socket.write(chunk, done);
    },
    // Headers and body in one segment.
    writev: (chunks, done) => {
      filter.expectResponse();
      socket.write(Buffer.concat(chunks.map(({ chunk }) => chunk as Buffer)), done);
    },
    final: (done) => {
      socket.end();
      done();
    },
    destroy: (error, done) => {
      socket.destroy();
      done(error);
    },
  });
  socket.on('data', (chunk: Buffer) => {
    const passed = filter.pass(chunk);
    if (passed.length > 0 && !stream.push(passed)) {
      socket.pause();
    }
  });
  socket.once('end', () => {
    hasEnded = true;
    stream.push(filter.flush());
    stream.push(null);
  });
  socket.on('error', (error) => stream.destroy(error));
  socket.once('close', () => {
    if (!hasEnded) {
      stream.destroy();
    }
  });
  // An `error` event without a listener ends the process, and undici listens only once it has the
  // stream.
  stream.on('error', () => undefined);
  unusedChecks.set(stream, () => !stream.destroyed && !hasEnded && stream.readableLength === 0);
  // undici uses only what a Duplex has, and these two, which let an idle process exit.
  return Object.assign(stream, {
    ref: () => socket.ref(),
    unref: () => socket.unref(),
  }) as unknown as Socket;
}

/** Requests are not pipelined, so the first bytes after a request start its response. */
function createFilter() {
  let isBeforeResponse = false;
  let head = Buffer.alloc(0);
  const flush = () => {
    const held = head;
    head = Buffer.alloc(0);
    return held;
  };
  return {
    expectResponse: () => {
      isBeforeResponse = true;
    },
    flush,
    pass: (chunk: Buffer): Buffer => {
      if (!isBeforeResponse) {
        return chunk;
      }
      head = Buffer.concat([head, chunk]);
      for (;;) {
        const start = head.toString('latin1', 0, lineLength);
        const isInformational = informationalLine.test(start);
        const end = isInformational ? head.indexOf('\r\n\r\n') : -1;
        if (end !== -1) {
          head = head.subarray(end + 4);
        } else if (isInformational ? head.length < headBytesMax : couldBecomeInformational(start)) {
          return Buffer.alloc(0);
        } else {
          isBeforeResponse = false;
          return flush();
        }
      }
    },
  };
}

function couldBecomeInformational(start: string): boolean {
  return start.length < lineLength && lineStarts.some((each) => each.startsWith(start.slice(0, each.length)));
}
