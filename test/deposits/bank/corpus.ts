import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DateTime } from 'luxon';
import { projectRoot } from '../../../config/project-file.js';

export interface CorpusFile {
  /** Path below the corpus folder. */
  name: string;
  text: string;
  expected: {
    incoming: { line: number; amount: number; description: string }[];
    outgoing: number;
    others: number;
    refused: { line: number; why: string; column?: string }[];
  };
}

const folder = join(projectRoot, 'test/deposits/bank/corpus');
const yesterday = DateTime.now().setZone('Asia/Jakarta').minus({ days: 1 });
/** The day of all lines of the corpus, YYYY-MM-DD. */
export const corpusDay = yesterday.toISODate() ?? '';

/** Reads the made-up statements of all banks. `{{dd/MM/yyyy}}` in a file stands for yesterday. */
export function readCorpus(): CorpusFile[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.csv'))
    .sort()
    .map((name) => ({
      name,
      text: readFileSync(join(folder, name), 'utf8').replaceAll(/\{\{(.+?)\}\}/g, (_, format: string) =>
        yesterday.toFormat(format),
      ),
      expected: JSON.parse(
        readFileSync(join(folder, name.replace('.csv', '.json')), 'utf8'),
      ) as CorpusFile['expected'],
    }));
}
