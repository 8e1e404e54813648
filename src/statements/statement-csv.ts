import { csvText } from '../shared/csv-text.js';
import { entryPages, type Statement } from './read-statement.js';
import { presentEntry } from './present-entry.js';

export const statementColumns = ['at', 'kind', 'ref_id', 'subject_id', 'amount', 'balance'] as const;

/** The entries after a `seq` as CSV, a page at a time as the reader takes them. */
export async function* statementCsv(statement: Statement, after: number): AsyncGenerator<string> {
  const text = csvText([...statementColumns]);
  yield text.head;
  for await (const page of entryPages(statement, after)) {
    yield text.rows(page.map(presentEntry));
  }
}
