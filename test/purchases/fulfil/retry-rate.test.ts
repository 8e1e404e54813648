/** The rate of retries for unroutable orders, on a test clock. */
import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { getRetryDelayMs } from '../../../src/purchases/fulfil/schedule-purchase.js';

const always = Infinity;

describe('retries of unroutable orders', () => {
  it('run ten seconds later while few orders wait', () => {
    const sellerId = randomUUID();
    const looks = Array.from({ length: 400 }, (_, atMs) =>
      getRetryDelayMs({ sellerId, leftMs: always }, 50 * atMs),
    );
    expect(new Set(looks)).to.deep.equal(new Set([10_000]));
  });

  it('run at fifty a second if thousands of orders wait, first come, first served', () => {
    const sellerId = randomUUID();
    const looks = Array.from({ length: 3_000 }, () => getRetryDelayMs({ sellerId, leftMs: always }, 0));
    expect(looks.every((each, index) => index === 0 || each > (looks[index - 1] ?? 0))).to.equal(true);
    for (let fromMs = 10_000; fromMs < 70_000; fromMs += 1_000) {
      const inSecond = looks.filter((each) => each >= fromMs && each < fromMs + 1_000);
      expect(inSecond, `looks from ${fromMs} ms on`).to.have.length(50);
    }
    // An order that is postponed again is retried after all earlier ones.
    expect(getRetryDelayMs({ sellerId, leftMs: always }, 10_000)).to.equal(10_000 + 50_000);
  });

  it("run at the end of an order's maximum wait, not later and not earlier", () => {
    const sellerId = randomUUID();
    Array.from({ length: 3_000 }, () => getRetryDelayMs({ sellerId, leftMs: always }, 0));
    expect(getRetryDelayMs({ sellerId, leftMs: 25_000 }, 0)).to.equal(25_000);
    expect(getRetryDelayMs({ sellerId, leftMs: 4_000 }, 0)).to.equal(4_000);
  });

  it("do not delay another seller's orders, or orders after the backlog is gone", () => {
    const sellerId = randomUUID();
    Array.from({ length: 3_000 }, () => getRetryDelayMs({ sellerId, leftMs: always }, 0));
    expect(getRetryDelayMs({ sellerId: randomUUID(), leftMs: always }, 0)).to.equal(10_000);
    expect(getRetryDelayMs({ sellerId, leftMs: always }, 20_001)).to.equal(10_000);
  });
});
