import { readFileSync, statSync } from 'node:fs';
import Joi from 'joi';
import { env } from './env.js';
import { getConfigPath } from './project-file.js';

/** A bank holiday. Saturdays and Sundays are not listed. */
export interface Holiday {
  /** YYYY-MM-DD, business time. */
  day: string;
  name: string;
}

/** Maximum number of holidays, enough for several decades. */
const holidaysMax = 1_000;

/** Refuses days that the calendar does not have, such as 30 February. */
const checkDay = (value: string, helpers: Joi.CustomHelpers): unknown => {
  const at = new Date(`${value}T00:00:00Z`);
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(value)
    ? value
    : helpers.error('any.invalid');
};
const day = Joi.string()
  .pattern(/^20\d\d-\d\d-\d\d$/)
  .custom(checkDay)
  .messages({
    'string.pattern.base': '{{#label}} must be a day as YYYY-MM-DD',
    'any.invalid': '{{#label}} is not a calendar date',
  });
const list = Joi.array<Holiday[]>()
  .items(
    Joi.object({ day: day.required(), name: Joi.string().allow('').max(100).required() }).messages({
      'object.base': '{{#label}} must be an object with a day and a name',
    }),
  )
  .max(holidaysMax)
  .label('the list');

/**
 * Validates a list of holidays and sorts it by day.
 * @throws Error that names the invalid entry or the repeated day.
 */
export function parseHolidays(parsed: unknown): Holiday[] {
  const checked = list.validate(parsed, { convert: false });
  if (checked.error) {
    throw new Error(checked.error.message);
  }
  const holidays = checked.value as Holiday[];
  const days = holidays.map((each) => each.day);
  const twice = days.find((each, index) => days.indexOf(each) !== index);
  if (twice !== undefined) {
    throw new Error(`${twice} occurs twice`);
  }
  return holidays.sort((a, b) => a.day.localeCompare(b.day));
}

export function getHolidaysFile(): string {
  return env.HOLIDAYS_FILE ?? getConfigPath('holidays.json');
}

let cachedHolidays: { version: string; list: Holiday[]; days: ReadonlySet<string> } | null = null;

/** Returns the holidays. The file is read again if it has changed. Called once per settlement. */
export function readHolidays(): { list: Holiday[]; days: ReadonlySet<string> } {
  const file = getHolidaysFile();
  const { mtimeMs, size, ino } = statSync(file);
  const version = `${file} ${mtimeMs} ${size} ${ino}`;
  if (cachedHolidays?.version !== version) {
    const found = parseHolidays(JSON.parse(readFileSync(file, 'utf8')));
    cachedHolidays = { version, list: found, days: new Set(found.map((each) => each.day)) };
  }
  return cachedHolidays;
}
// Read the file at start, so that an invalid file fails the start and not the first settlement.
readHolidays();
