import { defineClocked } from '../jobs/sweep-job.js';

/** Asks providers for our balance there and for their price lists, each when it is time. */
export const refreshProvidersJob = defineClocked('refresh-providers', 20_000);
