import { expect } from 'chai';
import { getMaxWaitMs, getPromisedWaitMs } from '../../src/providers/backlog.js';

describe('how long an order may wait for its turn', () => {
  for (const [product, provider, seconds] of [
    [null, null, 600],
    [undefined, undefined, 600],
    [30, null, 30],
    [null, 90, 90],
    [30, 90, 30],
    [3_600, 90, 90],
    [3_600, null, 3_600],
  ] as const) {
    it(`${seconds} s where its product says ${product ?? 'nothing'} and its provider ${provider ?? 'nothing'}`, () => {
      expect(getMaxWaitMs({ product, provider })).to.equal(1_000 * seconds);
    });
  }

  it('ten minutes that nobody has said are no promise: an order whose turn comes later is still sent', () => {
    expect(getPromisedWaitMs({ product: null, provider: null })).to.equal(Infinity);
  });
});
