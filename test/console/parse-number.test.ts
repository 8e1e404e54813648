import { expect } from 'chai';
import { parseNumber } from '../../packages/console/src/parts/parse-number.js';

describe('a number that an operator types', () => {
  const whole: [string, number][] = [
    ['0', 0],
    ['50000', 50_000],
    [' 50.000 ', 50_000],
    ['50,000', 50_000],
    ['1.250.000', 1_250_000],
    ['-5', -5],
    ['\u22125.000', -5_000],
    ['9007199254740991', Number.MAX_SAFE_INTEGER],
  ];
  for (const [text, number] of whole) {
    it(`${JSON.stringify(text)} is ${number}`, () => {
      expect(parseNumber(text)).to.equal(number);
    });
  }

  for (const text of [
    '',
    ' ',
    '-',
    '.',
    '1.5',
    '10.50',
    '50.000,00',
    '50,000.00',
    '1.000,000',
    '1000.000',
    '.500',
    '5.',
    '1e3',
    '0x10',
    'Infinity',
    'NaN',
    '1 000',
    'Rp 5',
    '--5',
    '9007199254740992',
    '\u0665',
  ]) {
    it(`${JSON.stringify(text)} is not a whole number`, () => {
      expect(parseNumber(text)).to.be.NaN;
    });
  }

  it('may have decimals after a point or comma, but then no thousands separators', () => {
    expect(['1.25', '1,25', '1.5', '100', '0', '-0.5'].map((text) => parseNumber(text, 2))).to.deep.equal([
      1.25, 1.25, 1.5, 100, 0, -0.5,
    ]);
    for (const text of ['1.250', '1.234,5', '1.', '.5', '1e2', '', '1,2,3', '1.2.3']) {
      expect(parseNumber(text, 2), text).to.be.NaN;
    }
    expect(parseNumber('0.025', 6)).to.equal(0.025);
  });
});
