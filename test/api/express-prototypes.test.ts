import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { expect } from 'chai';
import { buildExpressClasses } from '../../src/api/http/express-setup.js';
import { fetchJson } from '../support/fetch-json.js';

describe('Express prototypes of requests', () => {
  it('are set before Express handles the request, and Express still works', async () => {
    const app = express().post('/', express.json(), (request, response) => {
      response.json({ got: request.body as unknown, ip: request.ip });
    });
    const born: boolean[] = [];
    const server = createServer(buildExpressClasses(app), (request, response) => {
      born.push(Object.getPrototypeOf(request) === app.request);
      born.push(Object.getPrototypeOf(response) === app.response);
      app(request, response);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const answer = await fetchJson(`http://127.0.0.1:${port}/`, 'POST', { a: 1 });
    server.close();
    expect(answer).to.deep.equal({ got: { a: 1 }, ip: '127.0.0.1' });
    expect(born).to.deep.equal([true, true]);
  });
});
