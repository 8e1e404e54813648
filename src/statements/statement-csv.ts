import { csvText, type CsvFormat } from '../shared/csv-text.js';
import { readEntryPages, type Statement } from './read-statement.js';
import { presentEntry } from './present-entry.js';

export const statementColumns = ['at', 'kind', 'ref_id', 'subject_id', 'amount', 'balance'] as const;

/** The entries after a `seq` as CSV, a page at a time as the reader takes them. */
export async function* statementCsv(
  statement: Statement,
  { after, format, zone }: { after: number; format?: CsvFormat | undefined; zone?: string | undefined },
): AsyncGenerator<string> {
  const text = csvText([...statementColumns], format);
  yield text.head;
  for await (const page of readEntryPages(statement, after)) {
    yield text.rows(page.map((each) => presentEntry(each, zone)));
  }
}
