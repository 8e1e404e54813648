import { expect } from 'chai';
import { getMaxWaitMs, getConfiguredWaitMs } from '../../src/providers/backlog.js';

describe('maximum wait of an order for its turn', () => {
  for (const [product, provider, seconds] of [
    [null, null, 600],
    [undefined, undefined, 600],
    [30, null, 30],
    [null, 90, 90],
    [30, 90, 30],
    [3_600, 90, 90],
    [3_600, null, 3_600],
  ] as const) {
    it(`${seconds} s if the product sets ${product ?? 'nothing'} and the provider ${provider ?? 'nothing'}`, () => {
      expect(getMaxWaitMs({ product, provider })).to.equal(1_000 * seconds);
    });
  }

  it('the default of ten minutes is not enforced: orders are still sent after it', () => {
    expect(getConfiguredWaitMs({ product: null, provider: null })).to.equal(Infinity);
  });
});
