/**
 * File downloads with the clients of every language: the right method, complete files, and errors.
 */
import { expect } from 'chai';
import { createClient, type Client } from '../../packages/client-node/src/client.js';
import { uniqueRef } from '../support/api-client.js';
import { startStack, type Stack } from '../support/stack.js';
import { startFaultyNetwork, listen } from './support/faulty-network.js';
import { languages, type Command, type Driver } from './support/drivers.js';
import { describeWith } from '../support/require-tool.js';

const attachmentHeader = 'content-disposition: attachment; filename="report.csv"';
/** Returns a raw response, after which the server closes the connection. */
const buildRawResponse = (status: string, headers: string[], body: string) =>
  [status, ...headers, 'connection: close', '', body].join('\r\n');

describe('clients and files', () => {
  let stack: Stack;
  let key: string;
  let client: Client;
  let reportId: string;

  before(async () => {
    stack = await startStack({ workers: ['reports'] });
    key = (await stack.seed())['buyer']?.api_key ?? '';
    client = createClient({ baseUrl: stack.baseUrl, apiKey: key });
    reportId = (await client.call('createBuyerReport', { body: { type: 'transaction', format: 'csv' } }))
      .report_id;
  });
  after(() => stack.stop());

  for (const language of languages) {
    describeWith(language.needs, language.name, () => {
      let driver: Driver;
      before(() => {
        driver = language.start();
      });
      after(() => driver.stop());

      /** Returns the result and the number of calls. */
      const through = async (fate: 'answered' | 'silent', command: Command) => {
        const network = await startFaultyNetwork(stack.baseUrl, [fate]);
        try {
          const result = await driver.play({ url: network.url, key, ...command });
          return { result, calls: network.seen.length };
        } finally {
          network.close();
        }
      };

      it('`call` for a file names `download`, and `download` for no file names `call`', async () => {
        const wrong: [Command, RegExp][] = [
          [{ do: 'callStatement', with: { format: 'csv' } }, /returns a file: use download$/],
          [{ do: 'callStatement', with: { format: 'csv-excel' } }, /returns a file: use download$/],
          [{ do: 'callReport', with: { id: reportId } }, /returns a file: use download$/],
          [{ do: 'downloadStatement', with: {} }, /returns no file: use call, or set a format$/],
        ];
        for (const [command, says] of wrong) {
          const { result, calls } = await through('answered', command);
          expect(result, JSON.stringify(command)).to.include({ error: 'usage' });
          expect(result).to.have.property('message').that.matches(says);
          expect(calls, JSON.stringify(command)).to.be.at.most(1);
        }
        const right = [
          await through('answered', { do: 'callStatement', with: {} }),
          await through('answered', { do: 'downloadStatement', with: { format: 'csv' } }),
        ];
        for (const { result, calls } of right) {
          expect(result, JSON.stringify(result)).to.have.property('ok');
          expect(calls).to.equal(1);
        }
      });

      it('the error of a call without a response says whether to repeat or to check first', async () => {
        const read = /only reads and can be repeated\.$/;
        const ref = uniqueRef('files');
        const wanted: [Command, RegExp][] = [
          [{ do: 'download', with: { id: reportId } }, read],
          [{ do: 'callStatement', with: {} }, read],
          [{ do: 'balance' }, read],
          [{ do: 'resellerBalance' }, read],
          [{ do: 'createEndpoint', with: { url: 'https://shop.example/hooks' } }, /Check whether it took/],
          [{ do: 'deposit', with: { amount: 10_000, ref_id: ref } }, new RegExp(`with ref_id ${ref}\\.$`)],
        ];
        for (const [command, says] of wanted) {
          const { result } = await through('silent', { ...command, tellsMessage: true });
          expect(result, command.do).to.include({ error: 'unknown' });
          expect(result, command.do).to.have.property('message').that.matches(says);
        }
      });

      it('accepts only a complete 200 response as a file', async () => {
        const cases = {
          'partial content': [
            buildRawResponse('HTTP/1.1 206 Partial Content', [attachmentHeader, 'content-length: 4'], 'half'),
            null,
          ],
          'partial content in JSON': [
            buildRawResponse(
              'HTTP/1.1 206 Partial Content',
              [attachmentHeader, 'content-length: 30'],
              '{"status":"success","data":{}}',
            ),
            null,
          ],
          'no content': [buildRawResponse('HTTP/1.1 204 No Content', [attachmentHeader], ''), null],
          'a body shorter than its length': [
            buildRawResponse('HTTP/1.1 200 OK', [attachmentHeader, 'content-length: 100'], 'half'),
            null,
          ],
          'a chunked body without its end': [
            buildRawResponse(
              'HTTP/1.1 200 OK',
              [attachmentHeader, 'transfer-encoding: chunked'],
              '4\r\nhalf\r\n',
            ),
            null,
          ],
          'an HTML page': [
            buildRawResponse(
              'HTTP/1.1 200 OK',
              ['content-disposition: inline; filename="attachment"'],
              '<h1>Sign in</h1>',
            ),
            null,
          ],
          'a header value in other letter case': [
            buildRawResponse(
              'HTTP/1.1 200 OK',
              [attachmentHeader.replace(': a', ': A'), 'content-length: 5'],
              'whole',
            ),
            'whole',
          ],
          'a body without a length': [
            buildRawResponse('HTTP/1.0 200 OK', [attachmentHeader], 'whole'),
            'whole',
          ],
        } satisfies Record<string, [string, string | null]>;
        for (const [name, [answer, file]] of Object.entries(cases)) {
          let calls = 0;
          const { server, url } = await listen((request) => {
            calls++;
            request.socket.end(answer);
          });
          const result = await driver.play({ do: 'download', url, key, with: { id: 'any' } });
          server.close();
          expect(result, name).to.deep.equal(
            file === null ? { error: 'unknown', refId: null } : { ok: Buffer.from(file).toString('base64') },
          );
          expect(calls, name).to.equal(file === null ? 4 : 1);
        }
      });
    });
  }
});
