import { expect } from 'chai';
import { createTimeSlices } from '../../src/signals/start-tracing.js';
import { seededRandom } from '../support/random.js';

describe('time slices', () => {
  const random = seededRandom();

  it(`last half a second, one per period, for the requested share of time (${random.seed})`, () => {
    const isIn = createTimeSlices(0.1, random);
    const periodMs = 5_000;
    const starts: number[] = [];
    for (let period = 0; period < 40; period++) {
      const inside = Array.from({ length: periodMs }, (_, ms) => period * periodMs + ms).filter(isIn);
      expect(inside).to.have.length.within(499, 501);
      expect((inside.at(-1) ?? 0) - (inside[0] ?? 0), 'length of the slice').to.equal(inside.length - 1);
      starts.push((inside[0] ?? 0) % periodMs);
    }
    expect(new Set(starts).size, 'distinct starts').to.be.greaterThan(30);
  });

  it('are never or always active for a share of 0 or 1', () => {
    const moments = Array.from({ length: 5_000 }, (_, ms) => ms * 7);
    expect(moments.some(createTimeSlices(0))).to.equal(false);
    expect(moments.every(createTimeSlices(1))).to.equal(true);
  });
});
