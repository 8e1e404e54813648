import { generateReport } from '../src/reports/generate-report.js';
import { startWorker } from '../src/jobs/queues.js';
import type { RunningWorker } from './run.js';

/** Generates reports, two at a time: they are long, and streams wait for MongoDB most of the time. */
export function startReportsWorker(): RunningWorker {
  return startWorker('reports', (job) => generateReport(job.data.reportId), { concurrency: 2 });
}
