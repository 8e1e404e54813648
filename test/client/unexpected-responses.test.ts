/**
 * The clients of all languages, with a server that sends responses which the service never sends.
 */
import { expect } from 'chai';
import { listen } from './support/faulty-network.js';
import { languages, type Command, type Driver, type Result } from './support/drivers.js';
import { describeWith } from '../support/require-tool.js';

describe('clients with unexpected responses', () => {
  for (const language of languages) {
    describeWith(language.needs, language.name, () => {
      let driver: Driver;
      before(() => {
        driver = language.start();
      });
      after(() => {
        driver.stop();
      });

      const through = async (
        answers: { status: number; body: string }[],
        command: Omit<Command, 'url'>,
      ): Promise<{ result: Result; lines: string[] }> => {
        const lines: string[] = [];
        const { server, url } = await listen((request, response) => {
          lines.push(`${request.method ?? ''} ${request.url ?? ''}`);
          const { status, body } = answers[Math.min(lines.length, answers.length) - 1] ?? {
            status: 500,
            body: '',
          };
          response.writeHead(status, { 'content-type': 'application/json', 'retry-after': '0' }).end(body);
        });
        try {
          return { result: await driver.play({ key: 'bk_any', ...command, url }), lines };
        } finally {
          server.close();
        }
      };
      const proxyPage = { status: 502, body: 'Bad gateway' };

      it('repeats a read whatever the letter case of its method', async () => {
        const { result, lines } = await through(
          [proxyPage, { status: 200, body: '{"status":"success","data":[{"id":"default"}]}' }],
          { do: 'listEndpoints' },
        );
        expect(result).to.deep.equal({ ok: ['default'] });
        expect(lines).to.deep.equal(['GET /api/buyer/webhooks', 'GET /api/buyer/webhooks']);
      });

      it('a refusal with invalid fields is still a refusal', async () => {
        const named = '"status":"error","code":"07","reason":"blocked"';
        for (const odd of ['["a"]', '{}', '5', 'null', '"a"']) {
          const body = `{${named},"message":${odd},"errors":${odd},"request_id":${odd},"data_hint":${odd}}`;
          const { result } = await through([{ status: 403, body }], { do: 'listEndpoints' });
          expect(result, odd).to.deep.equal({
            error: 'refused',
            httpStatus: 403,
            code: '07',
            reason: 'blocked',
          });
        }
      });

      const unavailable = (reason: string) => ({
        status: 503,
        body: `{"status":"error","code":"03","reason":"${reason}","message":"…","data":null,"request_id":"x"}`,
      });
      const poor = {
        status: 402,
        body: '{"status":"error","code":"01","reason":"insufficient_balance","message":"…","data":null,"request_id":"x"}',
      };
      const buy = {
        do: 'buy',
        with: { code: 'S10', customer_number: '081234561230', ref_id: 'odd-1' },
      } as const;
      const createEndpoint = { do: 'createEndpoint', with: { url: 'https://shop.example/hooks' } } as const;

      it('`service_unavailable` leaves the outcome unknown, even after a later refusal', async () => {
        const open = unavailable('service_unavailable');
        for (const answers of [[open], [open, poor]]) {
          const { result, lines } = await through(answers, buy);
          expect(result).to.deep.equal({ error: 'unknown', refId: 'odd-1' });
          expect(lines).to.have.length(answers.length === 1 ? 4 : 2);
        }
        const { result, lines } = await through([open], createEndpoint);
        expect(result).to.deep.equal({ error: 'unknown', refId: null });
        expect(lines, 'calls of an operation that may run only once').to.have.length(1);
      });

      it('any other 503 means that nothing changed', async () => {
        const busy = unavailable('product_busy');
        expect((await through([busy], buy)).result).to.include({ error: 'refused', reason: 'product_busy' });
        expect((await through([busy, poor], buy)).result).to.include({ reason: 'insufficient_balance' });
        const { result, lines } = await through([busy, poor], createEndpoint);
        expect(result).to.include({ reason: 'insufficient_balance' });
        expect(lines).to.have.length(2);
      });

      it('an unknown outcome names its cause', async () => {
        const { result } = await through([proxyPage], { ...buy, tellsMessage: true });
        expect(result).to.have.property('message').that.includes('(HTTP 502: Bad gateway)');
        const { server, url } = await listen(() => undefined);
        await new Promise((resolve) => server.close(resolve));
        const nowhere = await driver.play({ ...buy, url, key: 'bk_any', tellsMessage: true });
        expect(nowhere)
          .to.have.property('message')
          .that.matches(/refused|connect/i);
      });

      it('refuses an invalid key before sending anything', async () => {
        for (const key of ['bk_test_a\u2013b', 'bk_test_a\n', 'bk test']) {
          const { result, lines } = await through([poor], { ...buy, key });
          expect(result, key)
            .to.include({ error: 'usage' })
            .and.to.have.property('message')
            .that.matches(/api_?key has a space/i);
          expect(lines).to.deep.equal([]);
        }
      });

      it('a deeply nested body is not a valid response', async () => {
        const { result, lines } = await through([{ status: 200, body: '['.repeat(200_000) }], {
          do: 'balance',
        });
        expect(result).to.deep.equal({ error: 'unknown', refId: null });
        expect(lines).to.have.length(4);
      });
    });
  }
});
