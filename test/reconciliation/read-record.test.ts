import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';
import { env } from '../../config/env.js';
import type { ProviderRecordRow } from '../../src/providers/adapter.js';
import { readRecord } from '../../src/reconciliation/record/read-record.js';
import type { DateOrder } from '../../src/reconciliation/record/record-time.js';
import { seededRandom } from '../support/random.js';
import { sizes } from '../support/sizes.js';
import { useSettings } from '../support/use-settings.js';

interface Expected {
  order?: DateOrder;
  rows?: [ref: string, at: string, status: string, serialNumber: string | null][];
  refusal?: string;
}

const folder = path.resolve('test/reconciliation/corpus/record');
const corpus = readdirSync(folder)
  .filter((name) => name.endsWith('.csv'))
  .map((name) => ({
    name: name.slice(0, -'.csv'.length),
    csv: readFileSync(path.join(folder, name), 'utf8'),
    expected: JSON.parse(readFileSync(path.join(folder, name.replace('.csv', '.json')), 'utf8')) as Expected,
  }));

const toCells = ({ providerRef, at, status, serialNumber }: ProviderRecordRow) => [
  providerRef,
  at.toISOString(),
  status,
  serialNumber,
];
const read = async (csv: string, order?: DateOrder) => (await readRecord(csv, order)).map(toCells);
const refusalOf = (csv: string, order?: DateOrder) =>
  read(csv, order).then(
    (rows) => `read as ${JSON.stringify(rows)}`,
    (error: unknown) => (error as Error).message,
  );

describe("a provider's record", () => {
  useSettings({ BUSINESS_TIMEZONE: 'Asia/Jakarta' });

  for (const { name, csv, expected } of corpus) {
    it(`of the kind ${name} is read as expected or refused by line`, async () => {
      if (expected.refusal === undefined) {
        expect(await read(csv, expected.order)).to.deep.equal(expected.rows);
      } else {
        expect(await refusalOf(csv, expected.order)).to.include(expected.refusal);
      }
    });
  }

  const unreadable = [
    '5',
    '2026',
    '2026-11',
    '20261105',
    '46331.5',
    '1762311600',
    '',
    'never',
    '10:00',
    '2026-02-30',
    '31/04/2026',
    '2026-11-05 24:30',
    '2026-11-05 10:61',
    '2026-11-05T10',
    '05/11/0026',
    '2026-W45-4',
    '2026-309',
    '05/11/1926 10:00',
    '05/11 2026',
    '05/Foo/2026',
    '2026-11-05 10:00 EST',
    '5/11/2026 13:00 PM',
    '2026.11.05-10',
    '2026-11-05 10:00 +25:00',
  ];
  for (const at of unreadable) {
    it(`refuses the time "${at}" by its line`, async () => {
      const csv = `ref_id,at,status\nok,2026-11-05,Sukses\nx,${at},Sukses\n`;
      expect(await refusalOf(csv)).to.include(`line 3, at "${at}"`);
    });
  }

  it('refuses an unknown status and an empty reference by line and column', async () => {
    expect(await refusalOf('ref_id,at,status\nx,2026-11-05,OK\n')).to.include('line 2, status "OK"');
    expect(await refusalOf('ref_id,at,status\n  ,2026-11-05,Sukses\n')).to.include('line 2, ref_id ""');
  });

  it('refuses a time that the clocks of its zone never showed', async () => {
    const { BUSINESS_TIMEZONE: usual } = env;
    env.BUSINESS_TIMEZONE = 'Europe/Lisbon';
    try {
      const csv = 'ref_id,at,status\nx,2026-03-29 01:30:00,Sukses\n';
      expect(await refusalOf(csv)).to.include('does not exist in its time zone');
    } finally {
      env.BUSINESS_TIMEZONE = usual;
    }
  });

  const random = seededRandom();
  it(`with mutated cells is read alike or refused; ${random.seed}`, async () => {
    const pick = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)] as T;
    const readable = corpus.filter(({ expected }) => expected.rows !== undefined);
    for (let round = 0; round < sizes.recordMutations; round++) {
      const { csv, expected } = pick(readable);
      const at = Math.floor(random() * csv.length);
      const mutated = csv.slice(0, at) + pick([',', ';', '\t', '"', '\n', ' ']) + csv.slice(at);
      const found = await read(mutated, expected.order).catch(() => null);
      const wrong = found?.filter((row) => !isKnown(row, expected.rows ?? []));
      expect(wrong ?? [], JSON.stringify(mutated)).to.deep.equal([]);
    }
  });
});

/** A space or a line break within a text changes only that text, so the other cells must agree. */
function isKnown(row: unknown[], rows: unknown[][]): boolean {
  return rows.some((each) => each.filter((cell, index) => cell === row[index]).length >= each.length - 1);
}
