import { expect } from 'chai';
import { computePrice, roundings } from '../../../src/providers/supplier-catalogue/margin-rule.js';
import { proposeProduct } from '../../../src/providers/supplier-catalogue/propose-product.js';

describe('a product proposed for a row of a price list', () => {
  const row = { cost: 10_000, available: true, cutOff: null };
  const rows: [object, object][] = [
    [
      { code: 'xld10', name: 'XL 10.000', group: 'Pulsa', brand: 'XL' },
      { code: 'xld10', name: 'XL 10.000', category: 'prabayar', subcategory: 'pulsa', operator: 'XL' },
    ],
    [
      { code: 'TSEL DATA/1GB', name: 'Telkomsel Data 1 GB', group: 'Data', brand: 'TELKOMSEL' },
      { code: 'TSEL-DATA-1GB', subcategory: 'data', operator: 'Telkomsel' },
    ],
    [{ code: 'tri5', name: 'Three 5.000', group: 'Pulsa', brand: 'THREE' }, { operator: 'Tri' }],
    [
      { code: 'pln20', name: 'PLN 20.000', group: 'PLN', brand: 'PLN' },
      { subcategory: 'pln', operator: 'PLN' },
    ],
    [
      { code: 'ml86', name: '86 Diamonds', group: 'Games', brand: 'MOBILE LEGENDS' },
      { subcategory: 'games' },
    ],
    [{ code: 'dana10', name: 'DANA 10.000', group: 'E-Money', brand: 'DANA' }, { subcategory: 'e-money' }],
    [
      { code: 'masa30', name: 'Masa Aktif 30', group: 'Masa Aktif', brand: 'AXIS' },
      { subcategory: 'masa-aktif', operator: 'Axis' },
    ],
    [
      { code: 'S10', name: 'Telkomsel 10.000' },
      { subcategory: 'pulsa', operator: 'Telkomsel' },
    ],
    [{ code: 'Z1' }, { code: 'Z1', name: 'Z1', subcategory: 'other', operator: null }],
    [
      { code: 'plnpasca', name: 'PLN Pascabayar', group: 'Pascabayar', brand: 'PLN', adminFee: 2_500 },
      { category: 'pascabayar', operator: 'PLN' },
    ],
  ];
  for (const [listed, expected] of rows) {
    it(`follows from ${JSON.stringify(listed)}`, () => {
      expect(proposeProduct({ code: '', ...row, ...listed })).to.include(expected);
    });
  }
});

describe('a price by a margin rule', () => {
  it('is the cost plus the margin, rounded up', () => {
    expect(computePrice(10_000, { percent: 0, amount: 0, roundTo: 1 })).to.equal(10_000);
    expect(computePrice(10_001, { percent: 1.5, amount: 200, roundTo: 100 })).to.equal(10_400);
    expect(computePrice(10_000, { percent: 2, amount: 0, roundTo: 50 })).to.equal(10_200);
    expect(computePrice(10_001, { percent: 0.29, amount: 0, roundTo: 1 })).to.equal(10_031);
  });

  it('is never below the cost, and less than one step above the exact price', () => {
    for (let cost = 0; cost < 400_000; cost += 997) {
      for (const roundTo of roundings) {
        const price = computePrice(cost, { percent: 1.25, amount: 75, roundTo });
        expect(price % roundTo).to.equal(0);
        const exact = BigInt(cost) * 10_125n + 750_000n;
        expect(BigInt(price) * 10_000n >= exact, `${cost} ${roundTo}`).to.equal(true);
        expect(BigInt(price - roundTo) * 10_000n < exact, `${cost} ${roundTo}`).to.equal(true);
      }
    }
  });
});
