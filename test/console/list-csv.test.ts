/** A list as CSV that is longer than one file may be says so at its end. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import express from 'express';
import { request } from 'undici';
import { sendListCsv } from '../../src/console/send-list-csv.js';

describe('a list as CSV', () => {
  /** Of so many rows. */
  async function linesOf(found: number): Promise<string[]> {
    const app = express();
    app.get('/', (_request, response) =>
      sendListCsv<number>(response, {
        ...{ filename: 'list.csv', columns: ['n', 'text'] },
        page: ({ after = 0, limit }) => {
          const end = Math.min(after + limit, found);
          const rows = Array.from({ length: end - after }, (_, n) => ({ n: after + n, text: 'x' }));
          return Promise.resolve({ rows, next: end < found ? end : null });
        },
      }),
    );
    const server = app.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { body } = await request(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    const text = await body.text();
    server.close();
    return text.trim().split(/\r?\n/);
  }

  it('has 10,000 rows at most, and its last line says whether there are more', async () => {
    const all = await linesOf(10_000);
    expect([all.length, all.at(-1)?.includes('9999')]).to.deep.equal([10_001, true]);
    const some = await linesOf(10_001);
    expect([some.length, some.at(-1)?.includes('This is not all')]).to.deep.equal([10_002, true]);
  });
});
