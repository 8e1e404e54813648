import { defineClocked } from '../jobs/sweep-job.js';

/** Holds the records of providers against ours, a day at a time. Most of the time it is done already, which one read a provider tells. */
export const reconcileProvidersJob = defineClocked('reconcile-providers', 600_000);
