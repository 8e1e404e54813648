/** Text from a provider reaches no terminal, file or log as a control sequence. */
import { expect } from 'chai';
import { guardAdapter } from '../../src/providers/guarded-adapter.js';
import { createH2hAdapter } from '../../src/providers/h2h.js';
import { createCsvText } from '../../src/shared/csv-text.js';
import { newId } from '../../src/shared/ids.js';
import { redact } from '../../src/shared/logger.js';
import { toPrintable, toPrintableLines } from '../../src/shared/printable.js';
import { useDatabase } from '../webhooks/support/database.js';
import { sendJson, startPlayServer, type PlayServer } from './play-server.js';

const hostile = 'A\u001b[2JB\u0007\u009b31mC\u202eD\u2028E\r\nF\u0000';
const controlPattern = /[\u0000-\u001f\u007f-\u009f\u2028-\u202e]/;

describe('control characters from a provider', () => {
  useDatabase();
  let server: PlayServer;
  before(async () => {
    server = await startPlayServer(({ url }, response) => {
      sendJson(response, 200, {
        status: '00',
        message: hostile,
        sn: hostile,
        transaction_status: 'success',
        ref_id: url.searchParams.get('ref_id'),
        customer_name: hostile,
        bill_period: '2024-03',
        total_bill: 1_000,
        admin_fee: 0,
        total_amount: 1_000,
        data: [{ code: hostile, price: 1, status: 'active' }],
      });
    });
  });
  after(() => server.stop());

  it('are removed from every result of the adapter before it is stored or shown', async () => {
    const adapter = guardAdapter(createH2hAdapter('h2h'));
    const connection = { sellerId: newId(), baseUrl: server.url, username: 'us', secret: 'secret' };
    const order = { providerRef: newId(), productCode: 'S10', customerNumber: '08123', costMax: 1 };
    const answers = [
      await adapter.buy(connection, order),
      await adapter.inquireBill(connection, order),
      await adapter.priceList(connection),
    ];
    const texts = textsOf(answers).filter((each) => each.startsWith('A'));
    expect(texts).to.have.length.of.at.least(4);
    texts.forEach((each) => expect(each).to.not.match(controlPattern));
    expect(answers[0]).to.include({ outcome: 'success', serialNumber: toPrintable(hostile) });
  });

  it('that are already stored are harmless on a terminal, in CSV and in a log', () => {
    const colours = '\u001b[31mred\u001b[39m\tand\n';
    expect(toPrintableLines(colours)).to.equal(colours);
    // Concealed, blinking and black text, a background colour, clear screen, cursor movement and a
    // link.
    for (const sequence of ['[8m', '[5m', '[30m', '[41m', '[2J', '[10A', '[38;5;0m', '[m', ']8;;x\u0007']) {
      expect(toPrintableLines(`a\u001b${sequence}b`), sequence).to.not.include('\u001b');
    }
    expect(toPrintableLines(hostile).replaceAll('\n', '')).to.not.match(controlPattern);
    expect(createCsvText(['a']).rows([{ a: hostile }])).to.equal(`${toPrintable(hostile)}\r\n`);
    expect(JSON.stringify(redact({ hostile }))).to.not.match(controlPattern);
  });
});

function textsOf(value: unknown): string[] {
  if (typeof value === 'string') {
    return [value];
  }
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsOf) : [];
}
