/**
 * Answers of the corpus with damage: the outcome stays, or it is unknown or pending. No damage makes
 * a success or a refund of something else.
 */
import { expect } from 'chai';
import { guardAdapter } from '../../src/providers/guarded-adapter.js';
import { createH2hAdapter } from '../../src/providers/h2h.js';
import type { createRandom } from '../../scripts/support/random.js';
import { seededRandom } from '../support/random.js';
import { useDatabase } from '../webhooks/support/database.js';
import { orderOf } from './conformance.js';
import { readH2hCorpus, type CorpusAnswer } from './h2h-corpus.js';
import { startPlayServer, type PlayServer } from './play-server.js';

const runs = 3_000;

type Random = ReturnType<typeof createRandom>;
type Damage = (answer: CorpusAnswer, random: Random) => string | null;

const pick = <T>(all: readonly T[], random: Random): T => all[Math.floor(random() * all.length)] as T;
const textOf = ({ text, body }: CorpusAnswer) => text ?? JSON.stringify(body);
const withField = ({ body }: CorpusAnswer, field: string, value: unknown) =>
  body && field in body ? JSON.stringify({ ...body, [field]: value }) : null;

const damages: Record<string, Damage> = {
  'is cut off': (answer, random) => textOf(answer).slice(0, Math.floor(random() * textOf(answer).length)),
  'has a BOM and blanks': (answer) => `\ufeff \n${textOf(answer)}\r\n `,
  'is in a list': (answer) => `[${textOf(answer)}]`,
  'is in another object': (answer, random) =>
    `{"${pick(['data', 'result', 'd'], random)}":${textOf(answer)}}`,
  'is a text in JSON': (answer) => JSON.stringify(textOf(answer)),
  'comes twice': (answer) => `${textOf(answer)}${textOf(answer)}`,
  'follows a warning of PHP': (answer) => `<br />\n<b>Warning</b>: x in y on line 1${textOf(answer)}`,
  'has names in upper case': ({ body }) =>
    body
      ? JSON.stringify(Object.fromEntries(Object.entries(body).map(([k, v]) => [k.toUpperCase(), v])))
      : null,
  'has another code': (answer, random) =>
    withField(
      answer,
      'status',
      pick([0, '0', '000', ' 00', '00 ', 'OK', 'success', null, true, [], {}, ''], random),
    ),
  'has another state': (answer, random) =>
    withField(
      answer,
      'transaction_status',
      pick(['SUCCESS', 'Sukses', ' success', 'done', '', 1, true, [], {}, 'refund', 'Failed'], random),
    ),
  'has another reference': (answer, random) =>
    withField(answer, 'ref_id', pick(['x', '<ref>0', '0<ref>', ' <ref>', 1, true, [], {}], random)),
  // A message of a failure decides, so without it this is another answer.
  'has another message': (answer, random) =>
    /gagal/i.test(textOf(answer))
      ? null
      : withField(answer, 'message', pick(['', null, 1, true, [], {}, 'x'.repeat(5_000), '\u0000'], random)),
  'has no serial number': (answer, random) =>
    answer.serialNumber
      ? withField(answer, 'sn', pick(['', ' ', '-', '0', null, [], {}, true, '\u00a0'], random))
      : null,
  'has more fields': ({ body }, random) =>
    body
      ? JSON.stringify({
          ...body,
          [pick(['rc', 'data', 'state', 'success'], random)]: pick([1, 'x', null], random),
        })
      : null,
};

describe('damaged answers of reseller engines', () => {
  useDatabase();
  const random = seededRandom();
  const adapter = guardAdapter(createH2hAdapter('h2h'));
  let server: PlayServer;
  let sent = '';

  before(async () => {
    server = await startPlayServer((call, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(sent.replace('<ref>', call.url.searchParams.get('ref_id') ?? ''));
    });
  });
  after(() => server.stop());

  it(`never become another success or a refund (${random.seed})`, async () => {
    const corpus = readH2hCorpus();
    const counts = new Map<string, number>();
    for (let run = 0; run < runs; run++) {
      const answer = pick(corpus, random);
      const [what, damage] = pick(Object.entries(damages), random);
      const text = damage(answer, random);
      if (text === null) {
        continue;
      }
      sent = text;
      const order = orderOf({ productCode: 'S10', customerNumber: '081234567890' });
      const connection = {
        sellerId: 'fuzz',
        baseUrl: server.url,
        username: 'us',
        secret: 'key',
        serialPlaceholders: ['cek report'],
      };
      const outcome =
        run % 2 === 0 ? await adapter.buy(connection, order) : await adapter.inquire(connection, order);
      const told = `${answer.title} ${what}: ${text.slice(0, 200)}`;
      expect(outcome.outcome, told).to.be.oneOf([answer.outcome, 'unknown', 'pending']);
      if (outcome.outcome === 'success') {
        expect(outcome.serialNumber ?? null, told).to.be.oneOf([answer.serialNumber ?? null, null]);
      }
      counts.set(outcome.outcome, (counts.get(outcome.outcome) ?? 0) + 1);
    }
    expect([...counts.keys()]).to.include.members(['success', 'pending', 'unknown', 'refused']);
  });
});
