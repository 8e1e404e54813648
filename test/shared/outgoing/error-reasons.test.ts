/** Reasons of failed calls. An update of undici that names its errors differently fails here. */
import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { expect } from 'chai';
import { request } from 'undici';
import { describeErrorReason, getErrorReason } from '../../../src/shared/outgoing/error-reasons.js';
import { callHttp } from '../../../src/providers/http.js';
import { createSender } from '../../../src/webhooks/deliver/send-request.js';
import { createUrlGuard } from '../../../src/webhooks/deliver/url-guard.js';
import { newId } from '../../../src/shared/ids.js';

type Answer = (socket: Socket) => void;
const sends =
  (text: string): Answer =>
  (socket) =>
    void socket.write(text);
const sendsAndCloses =
  (text: string): Answer =>
  (socket) =>
    void socket.end(text);

const ok = 'HTTP/1.1 200 OK\r\n';
const cases: { what: string; answer: Answer; reason: string; described: string }[] = [
  { what: 'another protocol', answer: sends('SSH-2.0-OpenSSH_9.6\r\n') },
  { what: 'an unknown version of HTTP', answer: sends('HTTP/9.9 200 OK\r\n\r\n') },
  { what: 'a status that is not a number', answer: sends('HTTP/1.1 abc OK\r\n\r\n') },
  { what: 'a header without a colon', answer: sends(`${ok}bad header\r\n\r\n`) },
  { what: 'a length that is not a number', answer: sends(`${ok}content-length: abc\r\n\r\n`) },
  { what: 'line ends without CR', answer: sends('HTTP/1.1 200 OK\ncontent-length: 2\n\nok') },
  { what: 'a malformed chunk', answer: sends(`${ok}transfer-encoding: chunked\r\n\r\nzz\r\n`) },
]
  .map((each) => ({ ...each, reason: 'NOT_HTTP', described: 'the response is not HTTP' }))
  .concat(
    [
      { what: 'no response', answer: sendsAndCloses('') },
      { what: 'half of the headers', answer: sendsAndCloses(`${ok}x: `) },
      { what: 'half of the body', answer: sendsAndCloses(`${ok}content-length: 10\r\n\r\nabc`) },
      { what: 'half of a chunk', answer: sendsAndCloses(`${ok}transfer-encoding: chunked\r\n\r\n5\r\nab`) },
    ].map((each) => ({
      ...each,
      reason: 'UND_ERR_SOCKET',
      described: 'connection closed before the end of the response',
    })),
  )
  .concat([
    {
      what: 'a reset connection',
      answer: (socket) => void socket.resetAndDestroy(),
      reason: 'ECONNRESET',
      described: 'connection reset',
    },
    {
      what: 'a length and chunks',
      answer: sends(`${ok}content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n`),
      reason: 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH',
      described: 'the response has another length than its headers say',
    },
    {
      what: 'headers above the limit',
      answer: sends(`${ok}x: ${'a'.repeat(20_000)}\r\n\r\n`),
      reason: 'UND_ERR_HEADERS_OVERFLOW',
      described: 'response headers are too large',
    },
    {
      what: 'an unasked change of protocol',
      answer: sends('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'),
      reason: 'UNEXPECTED_UPGRADE',
      described: 'the response changes the protocol',
    },
  ]);

describe('reasons of failed calls', () => {
  const sender = createSender(createUrlGuard({ allowPrivate: true }));
  after(() => sender.close());

  async function withServer(onSocket: Answer, use: (url: string) => Promise<void>): Promise<void> {
    const sockets = new Set<Socket>();
    const server = createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => undefined);
      onSocket(socket);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    try {
      await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    } finally {
      sockets.forEach((socket) => socket.destroy());
      server.close();
    }
  }

  const call = (url: string) =>
    callHttp({ method: 'POST', url: new URL(url), body: '{}', timeoutMs: 5_000, sellerId: newId() });

  for (const { what, answer, reason, described } of cases) {
    it(`${what}: ${reason}`, () =>
      withServer(
        (socket) => socket.once('data', () => answer(socket)),
        async (url) => {
          expect(await call(url)).to.deep.equal({ kind: 'unknown', reason });
          const result = await sender.send({ url, headers: {}, body: '{}' });
          expect(result).to.deep.equal({ kind: 'failed', error: described });
        },
      ));
  }

  it('100 Continue on a plain connection of undici: UNEXPECTED_RESPONSE', () =>
    withServer(
      (socket) => socket.once('data', () => socket.write('HTTP/1.1 100 Continue\r\n\r\n')),
      async (url) => {
        const error: unknown = await request(url).catch((thrown: unknown) => thrown);
        // If undici skips it one day, `skipInformational` is not needed any more.
        expect(getErrorReason(error)).to.equal('UNEXPECTED_RESPONSE');
        expect(describeErrorReason('UNEXPECTED_RESPONSE')).to.equal('a response was sent before the request');
      },
    ));

  it('a refused connection: ECONNREFUSED, and nothing was sent', async () => {
    let url = '';
    await withServer(
      () => undefined,
      (served) => {
        url = served;
        return Promise.resolve();
      },
    );
    expect(await call(url)).to.deep.equal({ kind: 'not-sent', reason: 'ECONNREFUSED' });
    expect(await sender.send({ url, headers: {}, body: '{}' })).to.deep.equal({
      kind: 'failed',
      error: 'connection refused',
    });
  });

  it('no code and no description contains the text of an error', () => {
    const secret = new Error('http://user:password@supplier.test/');
    expect(describeErrorReason(getErrorReason(secret))).to.equal('request failed (Error)');
  });
});
