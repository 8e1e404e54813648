import { defineClocked } from '../../jobs/sweep-job.js';

/** Tells clients of purchases that have been waiting for a while. */
export const sweepPendingNoticesJob = defineClocked('sweep-pending-notices', 3_000);
