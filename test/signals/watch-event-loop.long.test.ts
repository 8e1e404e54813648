import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { lookEveryMs, watchEventLoop } from '../../src/signals/watch-event-loop.js';
import { eventually } from '../support/eventually.js';

describe('event loop watch', () => {
  it('reports one block to every reader for a minute, then forgets it', async () => {
    // With this interval, the watch keeps its maximum for six seconds instead of a minute.
    const watched = watchEventLoop(500);
    const beganMs = performance.now();
    const heldUpMs = 400;
    try {
      // The first sample only starts the measurement, so wait for several.
      await eventually('a few samples', () => performance.now() - beganMs > 3 * lookEveryMs);
      const endMs = performance.now() + heldUpMs;
      while (performance.now() < endMs) {
        // Block the event loop.
      }
      // A reading directly after the block does not include it yet.
      watched.lagMs();
      await eventually('the block is reported', () => watched.lagMs() >= heldUpMs - 2 * lookEveryMs);
      await eventually('later samples', () => performance.now() - endMs > 2_000);
      expect(watched.lagMs(), 'lag after later samples').to.be.at.least(heldUpMs - 2 * lookEveryMs);
      expect(watched.lagMs(), 'lag for the next reader').to.be.at.least(heldUpMs - 2 * lookEveryMs);
      await eventually('the block is forgotten', () => watched.lagMs() < heldUpMs - 2 * lookEveryMs);
    } finally {
      watched.stop();
    }
  });

  it('detects a block wherever it starts in a slice, also across its end', async () => {
    for (let round = 0; round < 12; round += 1) {
      const watched = watchEventLoop(100);
      try {
        await delay(3 * lookEveryMs + 10 * round);
        const endMs = performance.now() + 300;
        while (performance.now() < endMs) {
          // Block the event loop.
        }
        await eventually(`the block is reported, round ${round}`, () => watched.lagMs() >= 200, 1_000);
      } finally {
        watched.stop();
      }
    }
  });
});
