import { defineClocked } from '../../jobs/sweep-job.js';

/** Removes bindings of signs whose day is over. */
export const removeExpiredBindingsJob = defineClocked('remove-expired-bindings', 300_000);
