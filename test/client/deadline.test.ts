/** The limit of time of the client for Node holds until the last byte, also where memory is collected meanwhile. */
import { expect } from 'chai';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
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
});
