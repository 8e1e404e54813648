/**
 * A list as CSV. The export is audited before the first row is sent, and a truncated file ends with
 * a note.
 */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import express from 'express';
import { request } from 'undici';
import { auditEntries, type AuditEntry } from '../../src/audit/audit.model.js';
import { sendListCsv } from '../../src/console/send-list-csv.js';
import { eventually } from '../support/eventually.js';
import { uniqueRef } from '../support/api-client.js';
import { useDatabase } from '../webhooks/support/database.js';

describe('a list as CSV', () => {
  useDatabase();

  interface CsvExport {
    text: string;
    entries: AuditEntry[];
  }

  /** Requests a CSV list with `found` rows. */
  async function exportCsv(found: number, { isLeft = false } = {}): Promise<CsvExport> {
    const actor = uniqueRef('operator:exports');
    const entries = () => auditEntries.find({ actor }).sort({ at: 1, _id: 1 }).toArray();
    const app = express();
    app.get('/', (_request, response) =>
      sendListCsv<number>(response, {
        filename: 'list.csv',
        columns: ['n', 'text'],
        exported: {
          by: { actor, from: null, reason: null },
          action: 'purchase.export',
          kind: 'transaction',
          filter: { status: 'FAILED' },
        },
        page: async ({ after = 0, limit }) => {
          expect((await entries()).map(({ action }) => action)).to.deep.equal(['purchase.export']);
          const end = Math.min(after + limit, found);
          const rows = Array.from({ length: end - after }, (_, n) => ({
            n: after + n,
            text: 'x'.repeat(isLeft ? 5_000 : 9),
          }));
          return { rows, next: end < found ? end : null };
        },
      }),
    );
    const server = app.listen(0, '127.0.0.1');
    await once(server, 'listening');
    try {
      const { body } = await request(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
      if (isLeft) {
        await once(body, 'readable');
        body.on('error', () => undefined).destroy();
        await eventually('the end of the export is audited', async () => (await entries()).length === 2);
        return { text: '', entries: await entries() };
      }
      return { text: await body.text(), entries: await entries() };
    } finally {
      server.closeAllConnections();
      server.close();
    }
  }
  const linesOf = ({ text }: CsvExport) => text.trim().split(/\r?\n/);
  const summarizeEntries = ({ entries }: CsvExport) =>
    entries.map(({ action, after }) => ({ action, after }));

  it('has at most 10,000 rows, and the last line says if there are more', async () => {
    const all = linesOf(await exportCsv(10_000));
    expect([all.length, all.at(-1)?.includes('9999')]).to.deep.equal([10_001, true]);
    const some = linesOf(await exportCsv(10_001));
    expect([some.length, some.at(-1)?.includes('Incomplete: ')]).to.deep.equal([10_002, true]);
  });

  it('is audited with its filter before the first page and with its size at the end', async () => {
    const filter = { status: 'FAILED' };
    const begun = { action: 'purchase.export', after: { file: 'list.csv', filter } };
    const done = (rows: number, cut: boolean) => ({
      action: 'purchase.export.done',
      after: { file: 'list.csv', filter, rows, cut },
    });
    expect(summarizeEntries(await exportCsv(3))).to.deep.equal([begun, done(3, false)]);
    expect(summarizeEntries(await exportCsv(10_001))).to.deep.equal([begun, done(10_000, true)]);
  });

  it('is audited with the rows sent if the client disconnects', async () => {
    const [, end] = (await exportCsv(9_000, { isLeft: true })).entries;
    const { rows, cut } = end?.after as { rows: number; cut: boolean };
    expect([rows > 0, rows < 9_000, cut]).to.deep.equal([true, true, true]);
  });
});
