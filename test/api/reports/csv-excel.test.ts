import { expect } from 'chai';
import fc from 'fast-check';
import { createCsvText } from '../../../src/shared/csv-text.js';
import { toPrintable } from '../../../src/shared/printable.js';
import { csvRows } from '../../support/csv.js';
import { excelValue } from './support/excel-value.js';

const cellsOf = (...texts: unknown[]) =>
  csvRows(
    createCsvText(Object.keys(texts), 'csv-excel').rows([
      Object.fromEntries(texts.map((text, index) => [index, text])),
    ]),
  )[0] ?? [];

const startsFormula = /^["\s]*[=+\-@\uff1d\uff0b\uff0d\uff20]/;

describe('CSV for Excel', () => {
  it('begins with a UTF-8 BOM, uses CRLF and has a plain header', () => {
    const { head, rows } = createCsvText(['a', 'b'], 'csv-excel');
    expect(head + rows([{ a: 'x', b: 1 }])).to.equal('\ufeffa,b\r\n"=""x""",1\r\n');
  });

  it('keeps texts as texts and numbers as numbers, also negative ones', () => {
    const texts = ['0812', '12345678901234567890', '1e5', '1-2', 'MAR1', '1/2', 'TRUE', '12:30', '-5', '5%'];
    expect(cellsOf(...texts)).to.deep.equal(texts.map((text) => `="${text}"`));
    expect(cellsOf(-5_000, 0, 1_500, null, '')).to.deep.equal(['-5000', '0', '1500', '', '']);
  });

  it('writes true and false as words and null as an empty cell', () => {
    for (const format of ['csv', 'csv-excel'] as const) {
      const text = createCsvText(['a', 'b', 'c'], format).rows([{ a: true, b: false, c: null }]);
      expect(text, format).to.equal('true,false,\r\n');
    }
  });

  it('keeps any text in its cell, on one line', () => {
    const hostile = [
      '=1+1',
      '+1',
      '-1',
      '@A1',
      '\t=1',
      '\r=1',
      '"&cmd|A1&"',
      '"',
      '""',
      '\uff1d1',
      '\ufeff=1',
    ];
    for (const text of hostile) {
      expect(cellsOf(text).map(excelValue), text).to.deep.equal([toPrintable(text)]);
    }
    const quoting = fc.string({
      unit: fc.constantFrom('"', '=', ',', 'a', ' ', '\n', '&', '0'),
      maxLength: 40,
    });
    fc.assert(
      fc.property(fc.oneof(quoting, fc.string({ unit: 'grapheme' })), (text) => {
        fc.pre(!text.includes(';'));
        expect(cellsOf(text, 'next').map(excelValue)).to.deep.equal([toPrintable(text), 'next']);
      }),
      { numRuns: 500 },
    );
  });

  it('creates no formula cell if the list separator is a semicolon', () => {
    const parts = fc.string({
      unit: fc.constantFrom(';', '"', '=', '-', '@', ' ', '\uff0b', 'a'),
      maxLength: 30,
    });
    fc.assert(
      fc.property(parts, parts, (one, other) => {
        const line = createCsvText(['a', 'b'], 'csv-excel').rows([{ a: one, b: other }]);
        expect(
          line
            .split(';')
            .slice(1)
            .filter((cell) => startsFormula.test(cell)),
        ).to.deep.equal([]);
      }),
      { numRuns: 500 },
    );
    expect(cellsOf('a;b', 'Promo;=1+1')).to.deep.equal(['="a;b"', '="Promo;\'=1+1"']);
  });

  it('writes a text that is too long for a formula as plain text', () => {
    const long = 'x'.repeat(256);
    expect(cellsOf(long, `=${long}`, 'y'.repeat(255))).to.deep.equal([
      long,
      `'=${long}`,
      `="${'y'.repeat(255)}"`,
    ]);
  });

  it('plain CSV has no formula if the list separator is a semicolon', () => {
    expect(createCsvText(['a']).rows([{ a: 'Paket;=1+1' }, { a: 'a";=1+1;-2;b' }])).to.equal(
      'Paket;\'=1+1\r\n"a"";\'=1+1;\'-2;b"\r\n',
    );
  });

  it('plain CSV has no BOM and no text formulas', () => {
    const { head, rows } = createCsvText(['a', 'b', 'c']);
    expect(head + rows([{ a: '0812', b: '=1', c: -1 }])).to.equal("a,b,c\r\n0812,'=1,-1\r\n");
  });
});
