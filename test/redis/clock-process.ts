/**
 * The process for fleet-clock.long.test.ts. It reports its time after the first measurement of the
 * Redis clock and again on each message.
 */
import { keepFleetClock } from '../../src/redis/fleet-clock.js';
import { nowMs } from '../../src/shared/clock.js';

const reportTime = () => process.send?.({ nowMs: nowMs(), hostMs: Date.now() });

void main();

async function main(): Promise<void> {
  await keepFleetClock().measured;
  process.on('message', reportTime);
  reportTime();
}
