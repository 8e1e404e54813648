import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { lookEveryMs, watchEventLoop } from '../../src/signals/watch-event-loop.js';
import { eventually } from '../support/eventually.js';

describe('the event loop', () => {
  it('that is held up once is told to all who look within a minute, and then forgotten', async () => {
    // Its minute lasts six seconds.
    const watched = watchEventLoop(500);
    const beganMs = performance.now();
    const heldUpMs = 400;
    try {
      // The first look only begins.
      await eventually('a few looks', () => performance.now() - beganMs > 3 * lookEveryMs);
      const endMs = performance.now() + heldUpMs;
      while (performance.now() < endMs) {
        // Nothing else runs.
      }
      // To whoever asks at once, nothing was seen yet.
      watched.lagMs();
      await eventually('it to be seen', () => watched.lagMs() >= heldUpMs - 2 * lookEveryMs);
      await eventually('other looks', () => performance.now() - endMs > 2_000);
      expect(watched.lagMs(), 'among other looks').to.be.at.least(heldUpMs - 2 * lookEveryMs);
      expect(watched.lagMs(), 'to whoever looks next').to.be.at.least(heldUpMs - 2 * lookEveryMs);
      await eventually('it to be forgotten', () => watched.lagMs() < heldUpMs - 2 * lookEveryMs);
    } finally {
      watched.stop();
    }
  });

  it('what holds it up is told wherever in a slice it begins, also over its end', async () => {
    for (let round = 0; round < 12; round += 1) {
      const watched = watchEventLoop(100);
      try {
        await delay(3 * lookEveryMs + 10 * round);
        const endMs = performance.now() + 300;
        while (performance.now() < endMs) {
          // Held up.
        }
        await eventually(`it to be seen, round ${round}`, () => watched.lagMs() >= 200, 1_000);
      } finally {
        watched.stop();
      }
    }
  });
});
