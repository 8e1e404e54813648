import { expect } from 'chai';
import { staleWhileRevalidate } from '../../src/shared/memoize.js';

describe('stale-while-revalidate', () => {
  const options = { ttlMs: 0, maxWaitMs: 20, maxStaleMs: 60_000 };

  it('returns null after the wait and keeps the late result', async () => {
    const asked: ((value: number) => void)[] = [];
    const again = { ...options, ttlMs: 60_000 };
    const ask = staleWhileRevalidate(again, () => new Promise<number>((resolve) => asked.push(resolve)));
    expect(await ask()).to.deep.equal({ answer: null, isUnderWay: true });
    asked[0]?.(1);
    expect(await ask()).to.deep.equal({ answer: 1, isUnderWay: false });
    expect(asked).to.have.length(1);
  });

  it('waits for the first result, then returns a stale one if the next is slow', async () => {
    const asked: ((value: number) => void)[] = [];
    const ask = staleWhileRevalidate(options, () => new Promise<number>((resolve) => asked.push(resolve)));
    const first = ask();
    asked[0]?.(1);
    expect(await first).to.deep.equal({ answer: 1, isUnderWay: false });
    expect(await ask(), 'stale result while the second runs').to.deep.equal({ answer: 1, isUnderWay: true });
    expect(asked).to.have.length(2);
    asked[1]?.(2);
    const third = ask();
    asked[2]?.(3);
    expect(await third, 'result in time').to.deep.equal({ answer: 3, isUnderWay: false });
  });

  it('returns no expired result, and reports an error that comes in time', async () => {
    let times = 0;
    const ask = staleWhileRevalidate({ ...options, maxStaleMs: -1 }, () => Promise.resolve((times += 1)));
    expect([(await ask()).answer, (await ask()).answer]).to.deep.equal([1, 2]);
    const failing = staleWhileRevalidate(options, () =>
      (times += 1) === 3 ? Promise.resolve(0) : Promise.reject(new Error('away')),
    );
    expect((await failing()).answer).to.equal(0);
    expect(await failing().catch((error: unknown) => (error as Error).message)).to.equal('away');
  });
});
