import { defineClocked } from '../../jobs/sweep-job.js';

/** Folds the totals of past days. */
export const foldTotalsJob = defineClocked('fold-totals', 600_000);
