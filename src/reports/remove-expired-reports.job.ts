import { defineClocked } from '../jobs/sweep-job.js';

/** Removes reports whose time is over. */
export const removeExpiredReportsJob = defineClocked('remove-expired-reports', 60_000);
