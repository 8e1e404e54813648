import { defineClocked } from '../jobs/sweep-job.js';

/** Removes and masks what was kept long enough (docs/explanation/personal-data.md). */
export const applyRetentionJob = defineClocked('apply-retention', 600_000);
