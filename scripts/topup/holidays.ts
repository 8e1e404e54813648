import { Option, type Command } from 'commander';
import { defineCommand, defineGroup } from './define-command.js';
import { table } from './format.js';
import { reasonOption, wholeNumber } from './options.js';

/** `topup holidays …`: bank holidays. */
export function registerHolidays(program: Command): void {
  const group = defineGroup(program, 'holidays', 'Bank holidays');
  defineCommand<{ year?: number }>(group, {
    usage: 'list',
    action: 'holidays.look',
    summary: 'List the bank holidays by day',
    examples: ['holidays list', 'holidays list --year 2027'],
    options: [new Option('--year <year>', 'only this year').argParser(wholeNumber(2000, 2099))],
    async run({ options: { year } }) {
      const { readHolidays } = await import('../../config/holidays.js');
      const data = readHolidays().list.filter(({ day }) => year === undefined || day.startsWith(`${year}-`));
      const rows = data.map(({ day, name }) => [day, weekday(day), name]);
      return {
        data,
        text: data.length === 0 ? 'There are no holidays.' : table(['day', '', 'name'], rows),
      };
    },
  });
  defineCommand(group, {
    usage: 'import <file>',
    action: 'holidays.set',
    summary: "Import a year's official holidays",
    details:
      'A JSON file: [{"day": "2027-01-01", "name": "Tahun Baru"}, …]. It replaces every year that it contains; other years\nstay. The result is written to HOLIDAYS_FILE (config/holidays.json), which the processes of this machine read\nagain at the next settlement. With several machines, run it on each of them.',
    examples: ['holidays import holidays-2027.json --reason "SKB 3 Menteri for 2027"'],
    options: [reasonOption()],
    async run({ arg, by }) {
      const { importHolidays } = await import('../../src/settlements/import-holidays.js');
      const data = await importHolidays(arg('file'), by);
      const lines = [
        ...data.added.map(({ day, name }) => `+ ${day} ${name}`),
        ...data.removed.map(({ day, name }) => `- ${day} ${name}`),
      ];
      return {
        data,
        text: [`${data.years.join(', ')}: ${lines.length === 0 ? 'no day changes.' : ''}`, ...lines].join(
          '\n',
        ),
      };
    },
  });
}

function weekday(day: string): string {
  return new Intl.DateTimeFormat('en-GB', { weekday: 'short', timeZone: 'UTC' }).format(
    new Date(`${day}T00:00:00Z`),
  );
}
