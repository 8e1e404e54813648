/** The client for Node takes whole answers alone, and its limit of time holds until the last byte, also where memory is collected. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { projectRoot } from '../../config/project-file.js';
import { createClient, OutcomeUnknownError } from '../../packages/client-node/src/client.js';
import { eventually } from '../support/eventually.js';
import { listen } from './support/bad-network.js';

setFlagsFromString('--expose_gc');
const collect = runInNewContext('gc') as () => void;

describe('The client for Node, and an answer without an end', function () {
  this.timeout(30_000);

  for (const [name, everyMs] of [
    ['drips', 50],
    ['stops', null],
  ] as const) {
    it(`a body that ${name} is given up`, async () => {
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
      const collecting = setInterval(collect, 20);
      try {
        const limit = new Promise((resolve) => setTimeout(resolve, 10_000, 'no end'));
        const error = await Promise.race([asked, limit]);
        expect(error).to.be.instanceOf(OutcomeUnknownError);
        expect((error as Error).cause).to.have.property('name', 'TimeoutError');
        await eventually('the connection to be closed', () => Promise.resolve(!isOpen));
      } finally {
        clearInterval(collecting);
        clearInterval(timer);
        server.closeAllConnections();
        server.close();
      }
    });
  }

  // In a process of its own, as clients run it: the tools of tests change what Node makes of such an answer.
  it('chunks without their end are no file', async () => {
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
