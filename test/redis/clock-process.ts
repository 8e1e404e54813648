/**
 * For fleet-clock.long.test.ts: reports its time after the first measurement of Redis's clock and
 * on each message.
 */
import { keepFleetClock } from '../../src/redis/fleet-clock.js';
import { nowMs } from '../../src/shared/clock.js';

const reportTime = () => process.send?.({ nowMs: nowMs(), hostMs: Date.now() });

await keepFleetClock().measured;
process.on('message', reportTime);
reportTime();
