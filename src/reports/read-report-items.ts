import { createInterface } from 'node:readline';
import { readReportFile } from './report-file.js';
import type { Report } from './report.model.js';

/** The first `max` items of a JSON report, read line by line from its file (see generate-report.ts). */
export async function readReportItems(report: Report, max: number): Promise<unknown[]> {
  const items: unknown[] = [];
  const file = readReportFile(report);
  try {
    for await (const line of createInterface({ input: file, crlfDelay: Infinity })) {
      if (line.startsWith('{')) {
        items.push(JSON.parse(line.replace(/,$/, '')));
      }
      if (items.length >= max) {
        break;
      }
    }
  } finally {
    file.destroy();
  }
  return items;
}
