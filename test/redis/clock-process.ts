/** A process for fleet-clock.long.test.ts: says what time it takes it to be, as soon as it has measured Redis's clock and whenever it is asked. */
import { keepFleetClock } from '../../src/redis/fleet-clock.js';
import { nowMs } from '../../src/shared/clock.js';

const tell = () => process.send?.({ nowMs: nowMs(), hostMs: Date.now() });

await keepFleetClock().measured;
process.on('message', tell);
tell();
