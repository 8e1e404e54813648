import { Duplex } from 'node:stream';
import type { Socket } from 'node:net';

const headBytesMax = 16_384;
const continueLine = /^HTTP\/1\.[01] 100[ \r]/;
const continueStarts = ['HTTP/1.0 100', 'HTTP/1.1 100'];

/**
 * Passes the bytes of a connection on, without `100 Continue` before a response. Old web servers send
 * it although nobody asked. HTTP requires clients to skip it (RFC 9110, section 15.2), but undici
 * fails the call with "bad response". undici itself skips other informational responses.
 */
export function skipContinue(socket: Socket): Socket {
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
        const start = head.toString('latin1', 0, 13);
        const isContinue = continueLine.test(start);
        const end = isContinue ? head.indexOf('\r\n\r\n') : -1;
        if (end !== -1) {
          head = head.subarray(end + 4);
        } else if (isContinue ? head.length < headBytesMax : couldBeContinue(start)) {
          return Buffer.alloc(0);
        } else {
          isBeforeResponse = false;
          return flush();
        }
      }
    },
  };
}

function couldBeContinue(start: string): boolean {
  return start.length < 13 && continueStarts.some((each) => each.startsWith(start.slice(0, 12)));
}
