/**
 * The client's time limit covers the complete response. The Node client rejects incomplete
 * responses and supports an abort signal.
 */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { projectRoot } from '../../config/project-file.js';
import { createClient, OutcomeUnknownError } from '../../packages/client-node/src/client.js';
import { eventually } from '../support/eventually.js';
import { listen } from './support/faulty-network.js';
import { languages } from './support/drivers.js';
import { requireTool } from '../support/require-tool.js';

setFlagsFromString('--expose_gc');
const collectGarbage = runInNewContext('gc') as () => void;

describe('clients with an endless response', () => {
  for (const [name, everyMs] of [
    ['drips', 50],
    ['stops', null],
  ] as const) {
    it(`stops reading a body that ${name}`, async () => {
      let timer: NodeJS.Timeout | undefined;
      let isOpen = true;
      const { server, url } = await listen((request, response) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.write('{');
        timer = everyMs === null ? undefined : setInterval(() => response.write(' '), everyMs);
        request.socket.on('close', () => (isOpen = false));
      });
      const asked = createClient({ baseUrl: url, apiKey: 'bk_any', timeoutMs: 500, attemptsMax: 1 })
        .call('getBuyerConfig')
        .catch((error: unknown) => error);
      const collecting = setInterval(collectGarbage, 20);
      try {
        const limit = new Promise((resolve) => setTimeout(resolve, 10_000, 'no end'));
        const error = await Promise.race([asked, limit]);
        expect(error).to.be.instanceOf(OutcomeUnknownError);
        expect((error as Error).cause).to.have.property('name', 'TimeoutError');
        await eventually('the connection is closed', () => Promise.resolve(!isOpen));
      } finally {
        clearInterval(collecting);
        clearInterval(timer);
        server.closeAllConnections();
        server.close();
      }
    });
  }

  it('an abort signal ends the current call and prevents further calls', async () => {
    let asked = 0;
    const stop = new AbortController();
    const { server, url } = await listen((_request, response) => {
      asked += 1;
      response.writeHead(503, { 'content-type': 'application/json', 'retry-after': '60' });
      response.end('{"status":"error","code":"03","reason":"try_again","data":null}', () =>
        setImmediate(() => stop.abort(new Error('Stopped.'))),
      );
    });
    const client = createClient({ baseUrl: url, apiKey: 'bk_any', signal: stop.signal });
    const buy = () =>
      client
        .buy({ code: 'S10', customer_number: '081234561230', ref_id: 'of-a-signal' })
        .catch((error: unknown) => error);
    expect(await buy(), 'aborted in the pause before a retry').to.be.an('error');
    expect(await buy(), 'aborted before the call').to.have.property('message', 'Stopped.');
    expect(asked).to.equal(1);
    server.closeAllConnections();
    server.close();
  });

  it('an abort signal before the response leaves the outcome unknown', async () => {
    const stop = new AbortController();
    const { server, url } = await listen(() => stop.abort());
    const client = createClient({ baseUrl: url, apiKey: 'bk_any', signal: stop.signal });
    const bought = client.buy({ code: 'S10', customer_number: '081234561230', ref_id: 'of-a-signal' });
    expect(await bought.catch((error: unknown) => error)).to.be.instanceOf(OutcomeUnknownError);
    server.closeAllConnections();
    server.close();
  });

  for (const language of languages) {
    it(`${language.name}: stops reading endless headers`, async function () {
      requireTool(this, language.needs);
      let drip: NodeJS.Timeout | undefined;
      const { server, url } = await listen(({ socket }) => {
        socket.on('error', () => undefined).write('HTTP/1.1 200 OK\r\nx-drip: ');
        drip = setInterval(() => socket.write('a'), 100);
      });
      const driver = language.start();
      const limit = new Promise((resolve) => setTimeout(resolve, 20_000, 'no end'));
      try {
        const given = {
          do: 'createEndpoint',
          url,
          key: 'bk_any',
          with: { url: 'https://a.example' },
        } as const;
        const result = await Promise.race([driver.play(given), limit]);
        expect(result).to.deep.equal({ error: 'unknown', refId: null });
      } finally {
        driver.stop();
        clearInterval(drip);
        server.closeAllConnections();
        server.close();
      }
    });
  }

  // Run in a separate process, because test tools change how Node handles an incomplete chunked
  // body.
  it('a chunked body without its end is not accepted as a file', async () => {
    const { server, url } = await listen(({ socket }) => {
      const head = 'HTTP/1.1 200 OK\r\ncontent-disposition: attachment\r\nconnection: close\r\n';
      socket.write(`${head}transfer-encoding: chunked\r\n\r\n4\r\nhalf\r\n`, () => socket.end());
    });
    const program = `
      const { createClient } = await import(process.argv[1]);
      const client = createClient({ baseUrl: process.argv[2], apiKey: 'bk_any', attemptsMax: 1 });
      const file = client.download('getBuyerStatement', { query: { format: 'csv' } });
      console.log(await file.then(String, (error) => error.name));`;
    const built = join(projectRoot, 'packages/client-node', 'dist', 'client.js');
    const args = ['--input-type=module', '--eval', program, built, url];
    const { stdout } = await promisify(execFile)(process.execPath, args);
    server.close();
    expect(stdout.trim()).to.equal('OutcomeUnknownError');
  });
});
