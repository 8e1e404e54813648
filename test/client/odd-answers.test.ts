/** The clients of every language before a server that answers what the service never would, and before one that does. */
import { expect } from 'chai';
import { listen } from './support/bad-network.js';
import { languages, type Command, type Result } from './support/drivers.js';

describe('The clients, and odd answers', function () {
  this.timeout(30_000);

  for (const language of languages) {
    (language.isHere ? describe : describe.skip)(language.name, () => {
      const driver = language.start();
      after(() => {
        driver.stop();
      });

      const answered = async (
        body: string,
        status = 200,
        command: Pick<Command, 'do'> = { do: 'listEndpoints' },
      ): Promise<{ result: Result; lines: string[] }> => {
        const lines: string[] = [];
        const { server, url } = await listen((request, response) => {
          lines.push(`${request.method ?? ''} ${request.url ?? ''}`);
          const isLost = lines.length === 1;
          response.writeHead(isLost ? 502 : status, { 'content-type': 'application/json' }).end(body);
        });
        try {
          return { result: await driver.play({ ...command, url, key: 'bk_any' }), lines };
        } finally {
          server.close();
        }
      };

      it('repeats what reads, however its method is written', async () => {
        const { result, lines } = await answered('{"status":"success","data":[{"id":"default"}]}');
        expect(result).to.deep.equal({ ok: ['default'] });
        expect(lines).to.deep.equal(['GET /api/buyer/webhooks', 'GET /api/buyer/webhooks']);
      });

      it('a refusal with odd fields is a refusal', async () => {
        const named = '"status":"error","code":"07","reason":"blocked"';
        for (const odd of ['["a"]', '{}', '5', 'null', '"a"']) {
          const body = `{${named},"message":${odd},"errors":${odd},"request_id":${odd},"data_hint":${odd}}`;
          const { result } = await answered(body, 403);
          expect(result, odd).to.deep.equal({
            ...{ error: 'refused', httpStatus: 403 },
            ...{ code: '07', reason: 'blocked' },
          });
        }
      });

      it('nesting without an end is no answer', async () => {
        const { result, lines } = await answered('['.repeat(200_000), 200, { do: 'balance' });
        expect(result).to.deep.equal({ error: 'unknown', refId: null });
        expect(lines).to.have.length(4);
      });
    });
  }
});
