import { defineClocked } from '../../jobs/sweep-job.js';

/** Closes the days that are over. Most of the time there are none, which one read tells. */
export const closeLedgerJob = defineClocked('close-ledger', 300_000);
