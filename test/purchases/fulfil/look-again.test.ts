/** The pace at which orders that nobody can serve are looked at again, by a clock of the test. */
import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { getRetryDelayMs } from '../../../src/purchases/fulfil/schedule-purchase.js';

const always = Infinity;

describe('looking again at orders that nobody can serve', () => {
  it('a few are looked at after ten seconds, all of them', () => {
    const sellerId = randomUUID();
    const looks = Array.from({ length: 400 }, (_, atMs) =>
      getRetryDelayMs({ sellerId, leftMs: always }, 50 * atMs),
    );
    expect(new Set(looks)).to.deep.equal(new Set([10_000]));
  });

  it('thousands that are put aside at once are looked at fifty a second, first come first served', () => {
    const sellerId = randomUUID();
    const looks = Array.from({ length: 3_000 }, () => getRetryDelayMs({ sellerId, leftMs: always }, 0));
    expect(looks.every((each, index) => index === 0 || each > (looks[index - 1] ?? 0))).to.equal(true);
    for (let fromMs = 10_000; fromMs < 70_000; fromMs += 1_000) {
      const inSecond = looks.filter((each) => each >= fromMs && each < fromMs + 1_000);
      expect(inSecond, `looks from ${fromMs} ms on`).to.have.length(50);
    }
    // Put aside once more, it comes after all that were before it.
    expect(getRetryDelayMs({ sellerId, leftMs: always }, 10_000)).to.equal(10_000 + 50_000);
  });

  it('none waits for longer than it may, and none comes sooner', () => {
    const sellerId = randomUUID();
    Array.from({ length: 3_000 }, () => getRetryDelayMs({ sellerId, leftMs: always }, 0));
    expect(getRetryDelayMs({ sellerId, leftMs: 25_000 }, 0)).to.equal(25_000);
    expect(getRetryDelayMs({ sellerId, leftMs: 4_000 }, 0)).to.equal(4_000);
  });

  it('those of another seller, and those that come when all have gone, do not wait behind them', () => {
    const sellerId = randomUUID();
    Array.from({ length: 3_000 }, () => getRetryDelayMs({ sellerId, leftMs: always }, 0));
    expect(getRetryDelayMs({ sellerId: randomUUID(), leftMs: always }, 0)).to.equal(10_000);
    expect(getRetryDelayMs({ sellerId, leftMs: always }, 20_001)).to.equal(10_000);
  });
});
