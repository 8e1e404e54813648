/**
 * Unusual connections: pipelined requests, malformed requests, and connections without a request.
 */
import { once } from 'node:events';
import http from 'node:http';
import net, { type AddressInfo } from 'node:net';
import zlib from 'node:zlib';
import { expect } from 'chai';
import supertest from 'supertest';
import { handleSequentially } from '../../src/api/http/connection-queue.js';
import { eventually } from '../support/eventually.js';
import { uniqueRef } from '../support/api-client.js';
import { connectTo, readUntilClose, buildGetRequest, waitForClose } from '../support/raw-connection.js';
import { startStack, type Stack } from '../support/stack.js';

describe('connections to the web process', () => {
  let stack: Stack;
  let key: string;

  before(async () => {
    stack = await startStack({ env: { TRUST_PROXY: '1', LOG_LEVEL: 'info' } });
    key = (await stack.seed())['buyer']?.api_key ?? '';
    await supertest(stack.baseUrl)
      .post('/api/buyer/deposit')
      .set('Authorization', `Bearer ${key}`)
      .send({ amount: 1_000_000, ref_id: uniqueRef() })
      .expect(200);
  });
  after(() => stack.stop());

  it('handles pipelined requests in order and responds to each', async () => {
    const socket = await connect();
    const refs = [uniqueRef(), uniqueRef(), uniqueRef()];
    socket.write(refs.map(purchase).join('') + buildGetRequest('/healthz', 'Connection: close'));
    const text = await readUntilClose(socket);
    expect(text.match(/HTTP\/1\.1 \d+/g)).to.deep.equal([
      'HTTP/1.1 200',
      'HTTP/1.1 200',
      'HTTP/1.1 200',
      'HTTP/1.1 200',
    ]);
    expect(refs.map((ref) => text.indexOf(`"${ref}"`))).to.satisfy((at: number[]) =>
      at.every((each, index) => each > (at[index - 1] ?? 0)),
    );
  });

  it('does not start queued requests after a disconnect, and logs the started ones', async () => {
    const refs = Array.from({ length: 30 }, () => uniqueRef());
    const socket = await connect();
    // The server takes some milliseconds to refuse a wrong key. Meanwhile it receives the pipelined
    // requests.
    socket.write(
      buildGetRequest('/api/buyer/balance', 'Authorization: Bearer wrong') + refs.map(purchase).join(''),
    );
    await once(socket, 'data');
    socket.destroy();
    const other = await connect();
    other.write(purchase(uniqueRef()));
    await once(other, 'data');
    other.destroy();
    const made = await stack.db
      .collection('transactions')
      .find({ refId: { $in: refs } })
      .toArray();
    expect(made.length).to.be.below(refs.length);
    for (const { requestId } of made) {
      await eventually('its log line', () => stack.web?.output().includes(String(requestId)));
    }
  });

  it('queues a request that arrives just before the next one starts', async () => {
    for (let round = 0; round < 20; round += 1) {
      const socket = await connect();
      const answers = readUntilClose(socket);
      socket.write(buildGetRequest('/healthz') + buildGetRequest('/healthz'));
      await once(socket, 'data');
      socket.write(buildGetRequest('/healthz') + buildGetRequest('/healthz', 'Connection: close'));
      expect((await answers).match(/HTTP\/1\.1 200/g)).to.have.length(4);
    }
  });

  it('an unknown Expect header does not end the connection', async () => {
    const socket = await connect();
    socket.write(
      buildGetRequest('/healthz', 'Expect: x') +
        buildGetRequest('/healthz').repeat(3) +
        buildGetRequest('/healthz', 'Connection: close'),
    );
    expect((await readUntilClose(socket)).match(/HTTP\/1\.1 200/g)).to.have.length(5);
  });

  it('closes a connection with too many pipelined requests and keeps serving others', async () => {
    const socket = await connect();
    socket.write(buildGetRequest('/openapi.json').repeat(1_500));
    await readUntilClose(socket);
    await supertest(stack.baseUrl).get('/healthz').expect(200);
  });

  it('refuses a malformed request target with 404/02', async () => {
    for (const target of [
      'http://[::1/healthz',
      'http://[::1/api/buyer/balance',
      '*',
      'abc://',
      'x://?a=b',
    ]) {
      const socket = await connect();
      socket.write(buildGetRequest(target, 'Connection: close'));
      const text = await readUntilClose(socket);
      expect(text, target).to.match(/^HTTP\/1\.1 404/);
      expect(text, target).to.match(/\r\nx-request-id: [0-9a-f]{32}\r\n/i);
      expect(text, target).to.match(/"02"/);
    }
  });

  it('refuses a body with too large a Content-Length before reading it', async () => {
    const limitOf = {
      '/api/buyer/transaction': '100 kB',
      '/api/reseller/callback': '100 kB',
      '/admin/login': '10 kB',
    };
    for (const [path, limit] of Object.entries(limitOf)) {
      const socket = await connect();
      const type = path === '/admin/login' ? 'application/x-www-form-urlencoded' : 'application/json';
      socket.write(
        `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: ${type}\r\nContent-Length: 999999999\r\n\r\n{`,
      );
      const text = await readUntilClose(socket);
      expect(text, path).to.match(/^HTTP\/1\.1 413/);
      expect(text, path).to.include(limit);
    }
  });

  it('counts wrong keys per address without the port', async () => {
    const statuses = new Set<number>();
    for (let port = 40_000; port < 40_025; port += 1) {
      const { status } = await supertest(stack.baseUrl)
        .post('/api/buyer/balance')
        .set('Authorization', `Bearer wrong-${port}`)
        .set('X-Forwarded-For', `203.0.113.10:${port}`);
      statuses.add(status);
    }
    expect([...statuses]).to.deep.equal([401, 429]);
  });

  it('a shutdown closes idle connections and completes started requests', async () => {
    const web = await stack.startWeb();
    const { port } = new URL(web.url);
    const silent = await connect(port);
    const half = await connect(port);
    half.write('GET /healthz HTTP/1.1\r\nHost:');
    const halfBody = await connect(port);
    halfBody.write(
      'POST /x HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{',
    );
    const used = await connect(port);
    used.write(buildGetRequest('/healthz'));
    await once(used, 'data');
    const refs = Array.from({ length: 30 }, () => uniqueRef());
    const made = () => stack.db.collection('transactions').countDocuments({ refId: { $in: refs } });
    const buying = await connect(port);
    const answers = readUntilClose(buying);
    buying.write(refs.map(purchase).join(''));
    await eventually('the first purchase exists', async () => (await made()) > 0);
    const sockets = [silent, half, halfBody, used];
    sockets.forEach((each) => each.resume());
    const closed = Promise.all(sockets.map(waitForClose));
    const startedMs = performance.now();
    await web.stop();
    await closed;
    expect(performance.now() - startedMs).to.be.below(10_000);
    const answered = (await answers).match(/HTTP\/1\.1 200/g)?.length ?? 0;
    expect(await made(), 'purchases and successful answers').to.equal(answered);
    expect(answered).to.be.within(1, refs.length);
  });

  it('malformed input never replaces the response to a request in progress', async () => {
    const server = http.createServer();
    let end = () => undefined as unknown;
    handleSequentially(server, (request, response) => {
      request.resume();
      end = () => response.end('made');
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const port = String((server.address() as AddressInfo).port);
    const asked = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\n{';
    // On the reseller surface GET creates purchases, and the body is not read.
    const unread = buildGetRequest('/', 'Transfer-Encoding: chunked');
    const large = buildGetRequest('/', `X-Large: ${'x'.repeat(20_000)}`);
    const connectThrough = 'CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n';
    const cases = [
      ...['}', 'XX\r\n\r\n', large, buildGetRequest('/') + 'XX\r\n\r\n'].map((junk) => ({
        first: asked,
        junk,
      })),
      { first: unread, junk: 'XX\r\n' },
      { first: asked, junk: connectThrough },
    ];
    for (const { first, junk } of cases) {
      const socket = await connect(port);
      const answer = readUntilClose(socket);
      socket.write(first);
      await once(server, 'request');
      const refused = once(server, junk === connectThrough ? 'connect' : 'clientError');
      socket.write(junk);
      await refused;
      end();
      expect(await answer, junk).to.match(/^HTTP\/1\.1 200[^]*\r\nConnection: close\r\n[^]*made$/);
    }
    // The server responds to malformed input with 400 or 431 only if no request is in progress, or
    // if the input belongs to the body of the current request.
    const socket = await connect(port);
    socket.write('XX\r\n\r\n');
    const reply = await readUntilClose(socket);
    expect(reply).to.match(/^HTTP\/1\.1 400 Bad Request\r\n/);
    const [head = '', body = ''] = reply.split('\r\n\r\n');
    expect(head).to.include(`Content-Length: ${Buffer.byteLength(body)}`);
    expect(JSON.parse(body)).to.include({
      status: 'error',
      code: '01',
      reason: 'malformed_body',
      data: null,
      message: 'Malformed HTTP request. Nothing was done.',
    });
    const oversized = await connect(port);
    oversized.write(large);
    expect(await readUntilClose(oversized)).to.match(
      /^HTTP\/1\.1 431 [^]*headers of the request are too large/,
    );
    const chunked = await connect(port);
    chunked.write('POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nXX\r\n');
    expect(await readUntilClose(chunked)).to.match(/^HTTP\/1\.1 400 Bad Request\r\n/);
    server.close();
  });

  it('a GET does not wait for a body, and its connection closes after the response', async () => {
    const announced = 'GET /x HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n';
    const ends = {
      'a body that nobody can read': (socket: net.Socket) =>
        socket.write(`${announced}Transfer-Encoding: chunked\r\n\r\nXX\r\n`),
      'a client that goes': (socket: net.Socket) => socket.end(`${announced}Content-Length: 9\r\n\r\n`),
    };
    for (const [how, ask] of Object.entries(ends)) {
      const socket = await connect();
      const answer = readUntilClose(socket);
      ask(socket);
      expect(await answer, how).to.match(/^HTTP\/1\.1 404 /);
    }
  });

  it('refuses a compressed body that ends before the request does', async () => {
    const refId = uniqueRef();
    const json = JSON.stringify({ code: 'S10', customer_number: '081234567890', ref_id: refId });
    // Add one byte, which zlib treats as trailing data.
    const body = Buffer.concat([zlib.deflateSync(json), Buffer.from([0])]);
    for (const path of ['/api/buyer/transaction', '/api/reseller/callback']) {
      const socket = await connect();
      const answer = readUntilClose(socket);
      socket.write(
        `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Encoding: deflate\r\nTransfer-Encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n`,
      );
      socket.write(Buffer.concat([body, Buffer.from('\r\n')]));
      expect(await answer, path).to.match(/^HTTP\/1\.1 400 [^]*body is incomplete/);
    }
    expect(await stack.db.collection('transactions').countDocuments({ refId })).to.equal(0);
  });

  it('a shutdown also completes requests that arrived but were not read yet', async () => {
    for (const how of ['on a connection that was taken', 'on one that is new']) {
      const server = http.createServer();
      const closing = handleSequentially(server, (_request, response) => response.end('answered'));
      await once(server.listen(0, '127.0.0.1'), 'listening');
      const socket = net.connect((server.address() as AddressInfo).port, '127.0.0.1');
      socket.on('error', () => undefined);
      if (how === 'on a connection that was taken') {
        await once(server, 'connection');
      }
      const answer = readUntilClose(socket);
      await new Promise((resolve) => socket.write(buildGetRequest('/'), resolve));
      await closing.close();
      expect(await answer, how).to.match(/^HTTP\/1\.1 200[^]*\r\nConnection: close\r\n[^]*answered$/);
    }
  });

  const connect = (port = new URL(stack.baseUrl).port) => connectTo(port);

  function purchase(refId: string): string {
    const body = JSON.stringify({ code: 'S10', customer_number: '081234567890', ref_id: refId });
    return `POST /api/buyer/transaction HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  }
});
