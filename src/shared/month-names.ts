/** Names of months as banks and billers write them: Indonesian, English, short and misspelt. */
export const monthNames: readonly (readonly string[])[] = [
  ['jan', 'januari', 'january', 'janvari'],
  ['feb', 'peb', 'febr', 'februari', 'pebruari', 'february'],
  ['mar', 'mart', 'mrt', 'maret', 'march'],
  ['apr', 'april'],
  ['mei', 'may'],
  ['jun', 'juni', 'june'],
  ['jul', 'juli', 'july'],
  ['agu', 'agt', 'ags', 'agus', 'agst', 'agust', 'aug', 'agustus', 'august'],
  ['sep', 'sept', 'september'],
  ['okt', 'oct', 'oktober', 'october'],
  ['nov', 'nop', 'november', 'nopember'],
  ['des', 'dec', 'desember', 'december'],
];

/** Names of weekdays, from Sunday. */
export const weekdayNames: readonly (readonly string[])[] = [
  ['min', 'minggu', 'ahad', 'sun', 'sunday'],
  ['sen', 'senin', 'mon', 'monday'],
  ['sel', 'selasa', 'tue', 'tues', 'tuesday'],
  ['rab', 'rabu', 'wed', 'wednesday'],
  ['kam', 'kamis', 'thu', 'thur', 'thurs', 'thursday'],
  ['jum', 'jumat', "jum'at", 'fri', 'friday'],
  ['sab', 'sabtu', 'sat', 'saturday'],
];

/** Returns the position of a name, from 0. It is -1 for an unknown name. */
export function findName(names: readonly (readonly string[])[], name: string): number {
  const wanted = name.toLowerCase();
  return names.findIndex((each) => each.includes(wanted));
}
