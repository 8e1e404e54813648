import { readFile, rename, writeFile } from 'node:fs/promises';
import { getHolidaysFile, parseHolidays, readHolidays, type Holiday } from '../../config/holidays.js';
import { recordAudit, type ChangedBy } from '../audit/record-audit.js';
import { ValidationError } from '../shared/errors.js';
import { asWritten } from '../shared/say.js';

/**
 * Imports a list of holidays. Each year in the list replaces that whole year; other years stay. The
 * file is replaced atomically, and every process reads it at its next settlement.
 * @param file A JSON file in the form of config/holidays.json.
 * @throws ValidationError (400/01) that names the problem. Nothing is changed.
 */
export async function importHolidays(
  file: string,
  by: ChangedBy,
): Promise<{ years: string[]; added: Holiday[]; removed: Holiday[] }> {
  const imported = await readList(file);
  const years = [...new Set(imported.map(getYear))];
  const before = readHolidays().list;
  const after = [...before.filter((each) => !years.includes(getYear(each))), ...imported].sort((a, b) =>
    a.day.localeCompare(b.day),
  );
  const missingIn = (list: Holiday[]) => (each: Holiday) => !list.some(({ day }) => day === each.day);
  const added = after.filter(missingIn(before));
  const removed = before.filter(missingIn(after));
  // Write the audit entry first. An audit entry without its change does less harm than a change
  // without its audit entry.
  await recordAudit(null, {
    ...by,
    action: 'holidays.import',
    subject: { kind: 'holidays', id: years.join(' ') },
    before: { removed: removed.map(({ day }) => day) },
    after: { added: added.map(({ day }) => day) },
  });
  const lines = after.map(({ day, name }) => `  { "day": "${day}", "name": ${JSON.stringify(name)} }`);
  const target = getHolidaysFile();
  const made = `${target}.${process.pid}`;
  await writeFile(made, `[\n${lines.join(',\n')}\n]\n`);
  await rename(made, target);
  return { years, added, removed };
}

async function readList(file: string): Promise<Holiday[]> {
  try {
    const holidays = parseHolidays(JSON.parse(await readFile(file, 'utf8')));
    if (holidays.length > 0) {
      return holidays;
    }
  } catch (error) {
    throw buildHolidaysError(error instanceof Error ? error.message : String(error));
  }
  throw buildHolidaysError('it contains no holidays');
}

function buildHolidaysError(why: string): ValidationError {
  const form = '[{"day": "2027-01-01", "name": "Tahun Baru"}, …]';
  return new ValidationError([
    {
      field: 'file',
      message: asWritten(`The list of holidays cannot be used: ${why}. It must be JSON: ${form}`),
    },
  ]);
}

function getYear({ day }: Holiday): string {
  return day.slice(0, 4);
}
